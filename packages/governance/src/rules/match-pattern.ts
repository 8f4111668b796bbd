import type { CommandTexts } from "./command-texts.ts";
import type { ReadyPattern } from "./compile/compile-rules.ts";
import type { SlowPattern } from "./compile/slow-pattern.ts";

/** How a pattern met a command. `gave-up`: the slow engine could not tell, which counts as a match. */
export type PatternMatch = "match" | "gave-up" | "no-match";

/**
 * Whether a pattern matches a command: the whole text, without mere data in it, or one of its simple commands. Synchronous
 * unless the slow engine is needed.
 */
export function matchPattern(
  { compiled }: ReadyPattern,
  texts: CommandTexts,
  slow: SlowPattern,
  options: { readonly signal: AbortSignal },
): PatternMatch | Promise<PatternMatch> {
  if (compiled.type === "linear") {
    return matches((text) => compiled.test(text), texts) ? "match" : "no-match";
  }
  if (!matches((text) => compiled.mayMatch(text), texts)) return "no-match";
  return slowMatch(compiled.expression, texts, slow, options);
}

function matches(test: (text: string) => boolean, texts: CommandTexts): boolean {
  if (texts.simple.some(test)) return true;
  return test(texts.raw) && test(texts.withoutInertText());
}

async function slowMatch(
  expression: Parameters<SlowPattern["matches"]>[0],
  texts: CommandTexts,
  slow: SlowPattern,
  options: { readonly signal: AbortSignal },
): Promise<PatternMatch> {
  for (const text of new Set([texts.withoutInertText(), ...texts.simple])) {
    const answer = await slow.matches(expression, text, options);
    if (answer !== "no-match") return answer;
  }
  return "no-match";
}
