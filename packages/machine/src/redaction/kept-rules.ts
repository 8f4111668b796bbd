import type { SecretRange } from "./secret-range.ts";

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
