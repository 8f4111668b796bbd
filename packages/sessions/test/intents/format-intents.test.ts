import { parseIntents } from "@gennai/governance/intents/parse-intents";
import { parseStrictYaml } from "@gennai/machine/config/strict-yaml";
import { describe, expect, it } from "vitest";
import { formatIntents, IntentsFormatError } from "#intents/format-intents";

function parsed(text: string) {
  const yaml = parseStrictYaml(text, "f");
  return parseIntents(yaml.data, { file: "f", lineOf: yaml.lineOf });
}

const item =
  "id: a\n    title: A\n    state: Active\n    scope: src/**\n    acceptanceCriteria: |\n      - one\n      - two\n    owner: ann # who\n";

describe("the canonical form of an intents file", () => {
  it.each([
    ["intents:", `# top\nintents:\n  - ${item}`],
    ["a bare list", `  - ${item}`],
    ["a map by id", `active_intents:\n  a:\n    ${item.replace("id: a\n    ", "")}`],
  ])("of %s", (_name, text) => {
    const formatted = formatIntents(text);
    expect(formatted).toContain(
      "active_intents:\n  - id: a\n    name: A\n    status: Active\n    owned_scope:\n      - src/**\n",
    );
    expect(formatted).toContain("    acceptance_criteria:\n      - one\n      - two\n    owner: ann # who\n");
    expect(parsed(formatted).problems).toEqual([]);
    expect(parsed(formatted).intents).toEqual(parsed(text).intents);
    expect(formatIntents(formatted)).toBe(formatted);
  });

  it("of an empty file, and with a scope where there was none", () => {
    expect(formatIntents("")).toBe("active_intents: []\n");
    const more = new Map([["a", ["x/**"]]]);
    for (const scope of ["", "    owned_scope:\n", "    owned_scope: []\n"]) {
      const formatted = formatIntents(`active_intents:\n  - id: a\n    name: A\n    status: active\n${scope}`, more);
      expect(parsed(formatted).intents[0]?.ownedScope).toEqual(["x/**"]);
    }
  });

  it.each([["hello"], ["tasks: []"], ["active_intents: 3"], ["a: ["]])("of %j is not there", (text) => {
    expect(() => formatIntents(text)).toThrow(IntentsFormatError);
  });
});
