import type { SecretRange } from "./secret-range.ts";

type Scan = (text: string) => Promise<readonly SecretRange[]>;

let loaded: Promise<Scan> | undefined;

/** secretlint's recommended rules over a text. They are loaded at the first text that needs them, not at start-up. */
export async function keptRules(text: string): Promise<readonly SecretRange[]> {
  loaded ??= load();
  return (await loaded)(text);
}

async function load(): Promise<Scan> {
  const [{ lintSource }, { rules }] = await Promise.all([
    import("@secretlint/core"),
    import("@secretlint/secretlint-rule-preset-recommend"),
  ]);
  // The rules one by one and not the preset: among the preset's is one that obeys `secretlint-disable` comments, and
  // text must not be able to switch its own redaction off.
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
      end: range[1],
      rule: ruleId.replace(/^.*secretlint-rule-/, ""),
    }));
  };
}
