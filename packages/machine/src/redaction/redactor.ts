import type { LiveRedactor } from "@gennai/governance/redaction";
import { announcedSecrets, passwordPrograms } from "./announced-secrets.ts";
import { knownForms, occurrences } from "./known-secrets.ts";
import { createLiveRedactionStream } from "./live-redaction-stream.ts";
import { privateKeys } from "./private-key.ts";
import { createRedactionStream } from "./redaction-stream.ts";
import { type FindSecrets, mask, mergeRanges, type SecretRange } from "./secret-range.ts";
import { tokenShapes } from "./token-shapes.ts";

export interface LearningRedactor extends LiveRedactor {
  /** Masks this string from now on. */
  learn(secret: string): void;
}

/** Words that some rule begins with, or a run long enough to be a token. Without a match there is no secret. */
const suspicious = new RegExp(
  String.raw`[A-Za-z0-9_+/=.-]{20}|:\/|:(?:\d{4,5}|\*):|-----BEGIN|authorization|bearer|passw|passphrase|secret|token|auth|api[_-]?key|access[_-]?key|session[_-]?id|xox[a-z]-|SG\.|--pass|${passwordPrograms.source}`,
  "i",
);

/**
 * Masks secrets as `[REDACTED:<rule>]`, with secretlint's rules and a few of our own.
 *
 * @param options.secrets exact strings that are masked everywhere, also encoded, e.g. the server's own token; those of fewer than
 * 8 characters are not masked
 */
export async function createRedactor(
  options: { readonly secrets?: readonly string[] } = {},
): Promise<LearningRedactor> {
  const known = new Set(options.secrets);
  const exact = knownForms([...known]);
  const find: FindSecrets = async (text) => {
    const knownOnes = exact.flatMap((form) => occurrences(text, form));
    if (!suspicious.test(text)) return mergeRanges(knownOnes);
    const plain = withoutColours(text);
    const own = [...privateKeys(text), ...tokenShapes(plain), ...announcedSecrets(plain)];
    return mergeRanges([...knownOnes, ...own, ...(await keptRules(plain))]);
  };
  const clean = new CleanTexts();
  let learnt = 0;
  return {
    redact: async (text) => {
      if (clean.has(text)) return text;
      const before = learnt;
      const found = await find(text);
      if (found.length === 0 && learnt === before) clean.add(text);
      return mask(text, found);
    },
    stream: () => createRedactionStream(find, exact),
    live: () => createLiveRedactionStream(find, exact),
    learn: (secret) => {
      known.add(secret);
      learnt += 1;
      clean.clear();
      // Open streams use this very array, so it is changed in place.
      exact.splice(0, exact.length, ...knownForms([...known]));
    },
  };
}

/** Replaces colour sequences by spaces: their last letter is not part of the next word. Positions stay the same. */
function withoutColours(text: string): string {
  if (!text.includes("\u001b[")) return text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
  return text.replaceAll(/\u001b\[[0-9;]{0,20}m/g, (colour) => " ".repeat(colour.length));
}

/** Most UTF-16 code units of one remembered text, and of all together. Longer texts seldom occur twice. */
const longest = 16_384;
const most = 1_048_576;

/** Texts in which no secret was found. Most texts are redacted repeatedly: instructions at each call, paths, arguments. */
export class CleanTexts {
  readonly #texts = new Set<string>();
  #size = 0;

  has(text: string): boolean {
    return text.length <= longest && this.#texts.has(text);
  }

  add(text: string): void {
    if (text.length > longest || this.#texts.has(text)) return;
    if (this.#size + text.length > most) this.clear();
    // A copy: a slice would keep the whole longer text in memory. By UTF-8, one of ASCII alone takes half the memory.
    const encoding = text.isWellFormed() ? "utf8" : "utf16le";
    this.#texts.add(Buffer.from(text, encoding).toString(encoding));
    this.#size += text.length;
  }

  clear(): void {
    this.#texts.clear();
    this.#size = 0;
  }
}

type Scan = (text: string) => Promise<readonly SecretRange[]>;

let loaded: Promise<Scan> | undefined;

/** Applies secretlint's recommended rules to a text. They are loaded for the first text that needs them, not at the start. */
export async function keptRules(text: string): Promise<readonly SecretRange[]> {
  loaded ??= load();
  return (await loaded)(text);
}

async function load(): Promise<Scan> {
  const [{ lintSource }, { secretLintProfiler }, { rules }] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/profiler"),
    import("@secretlint/secretlint-rule-preset-recommend"),
  ]);
  // The profiler keeps its measurements of every text for ever.
  secretLintProfiler.setEnabled(false);
  // The rules one by one and not the preset, because one rule of the preset obeys `secretlint-disable` comments: text must not be
  // able to switch its own redaction off.
  const config = {
    rules: rules
      .filter((rule) => !rule.meta.id.includes("filter-comments"))
      .map((rule) => ({
        id: rule.meta.id,
        rule,
        options: rule.meta.id.endsWith("-aws") ? { enableIDScanRule: true } : {},
      })),
  };
  return async (text) => {
    const result = await lintSource({
      source: { filePath: "text.txt", content: text, contentType: "text", ext: ".txt" },
      options: { config, noPhysicFilePath: true },
    });
    return result.messages.map(({ range, ruleId }) => ({
      start: range[0],
      end: ruleId.endsWith("-aws") ? awsEnd(text, range) : range[1],
      rule: ruleId.replace(/^.*secretlint-rule-/, ""),
    }));
  };
}

/** The AWS rule counts the value's length from the name before it, so that its range may end within the value. */
function awsEnd(text: string, [start, end]: readonly [number, number]): number {
  const named = /["']?\w{1,40}["']?\s*(?::|=>|=)\s*["']?[A-Za-z0-9/+=-]{12,}/y;
  named.lastIndex = start;
  return Math.max(end, named.test(text) ? named.lastIndex : end);
}
