import { analyseCommand } from "../command/analyse-command.ts";
import { commandTexts } from "./command-texts.ts";
import type { ReadyPattern } from "./compile/compile-rules.ts";
import type { RuleProblem } from "./compile/rule-set.ts";
import type { SlowPattern } from "./compile/slow-pattern.ts";
import { matchPattern } from "./match-pattern.ts";

/** Runs the examples (`match`, `notMatch`) of a file's patterns as commands. Each failing one is an error. */
export async function checkExamples(
  file: string,
  patterns: readonly ReadyPattern[],
  slow: SlowPattern,
  options: { readonly signal: AbortSignal },
): Promise<{ readonly checked: number; readonly problems: readonly RuleProblem[] }> {
  const problems: RuleProblem[] = [];
  let checked = 0;
  for (const pattern of patterns) {
    const { rule } = pattern;
    const line = Number(/:(\d+)$/.exec(rule.place)?.[1] ?? 1);
    for (const [examples, wanted] of [
      [rule.match, true],
      [rule.notMatch, false],
    ] as const) {
      for (const example of examples) {
        checked += 1;
        const texts = commandTexts(analyseCommand(example, { cwd: "/workspace", home: "/home/user" }));
        const matched = (await matchPattern(pattern, texts, slow, options)) !== "no-match";
        if (matched === wanted) continue;
        const shown = JSON.stringify(example.slice(0, 200));
        const message = wanted
          ? `does not match its own example ${shown}; correct the pattern or the example`
          : `matches ${shown}, which it says it must not; correct the pattern or the example`;
        problems.push({ severity: "error", file, line, rule: rule.name, message });
      }
    }
  }
  return { checked, problems };
}
