import { describe, expect, test } from "vitest";
import { describeRuleProblem, type RuleLayer } from "#rules/compile/rule-set";
import { parseRules } from "#rules/parse-rules";

function problemsOf(data: unknown, layer: RuleLayer = "project", isShared = false): readonly string[] {
  const { problems } = parseRules(data, { layer, file: "r.yaml", isShared, lineOf: () => 7 });
  return problems.map((problem) => `${problem.severity} ${describeRuleProblem(problem)}`);
}

describe("rules as they are found", () => {
  test("the original format", () => {
    const { rules, problems } = parseRules(
      {
        bashToolPatterns: [
          { pattern: "\\brm\\s+-rf", reason: "rm", match: ["rm -rf x"], notMatch: "rm x" },
          { pattern: "git stash drop", reason: "loses a stash", ask: true },
        ],
        zeroAccessPaths: [".env"],
        readOnlyPaths: ["/etc/"],
        noDeletePaths: ["README.md"],
        tools: { deny: ["Delete"] },
      },
      { layer: "project", file: "r.yaml", lineOf: () => 3 },
    );
    expect(problems).toEqual([]);
    expect(
      rules.patterns.map(({ name, ask, match, notMatch, place }) => ({ name, ask, match, notMatch, place })),
    ).toEqual([
      { name: "rules/project/1", ask: false, match: ["rm -rf x"], notMatch: ["rm x"], place: "r.yaml:3" },
      { name: "rules/project/2", ask: true, match: [], notMatch: [], place: "r.yaml:3" },
    ]);
    expect(rules.paths.map(({ name, protection, pattern }) => [name, protection, pattern])).toEqual([
      ["rules/project/zeroAccessPaths/1", "zero", ".env"],
      ["rules/project/readOnlyPaths/1", "readOnly", "/etc/"],
      ["rules/project/noDeletePaths/1", "noDelete", "README.md"],
    ]);
    expect(rules.tools).toEqual([{ name: "rules/project/tools/delete", tool: "delete", place: "r.yaml:3" }]);
  });

  test("the variant with action and description", () => {
    const data = {
      bashToolPatterns: [
        { pattern: "x", description: "why", action: "ask" },
        { pattern: "y", reason: "r", action: "block" },
      ],
    };
    const { rules, problems } = parseRules(data, { layer: "user", file: "r.yaml", lineOf: () => 1 });
    expect(problems).toEqual([]);
    expect(rules.patterns.map(({ reason, ask }) => [reason, ask])).toEqual([
      ["why", true],
      ["r", false],
    ]);
  });

  test("a rule that would allow something is left out and said so", () => {
    const data = { bashToolPatterns: [{ pattern: "git push", reason: "ALLOWED", allow: true }] };
    const { rules, problems } = parseRules(data, { layer: "project", file: "r.yaml", lineOf: () => 1 });
    expect(rules.patterns).toEqual([]);
    expect(problems).toMatchObject([{ severity: "warning" }]);
  });
});

const problematic: readonly (readonly [name: string, data: unknown, problem: RegExp])[] = [
  ["RUL-009 empty", null, /^error r\.yaml:7: is empty, not a set of rules/],
  ["RUL-009 a scalar", "rm", /^error .* is a string \(rm\), not a set of rules/],
  ["RUL-009 a list", [], /^error .* is a list, not a set of rules/],
  ["CFG-006 poisonous key", JSON.parse('{"__proto__": {}}'), /^error r\.yaml:7: __proto__: is not a key/],
  ["CFG-006 constructor", { constructor: 1 }, /^error r\.yaml:7: constructor: is not a key/],
  ["CFG-009 misspelt key", { zeroAccesPaths: [".env"] }, /^error .*zeroAccesPaths: .*did you mean zeroAccessPaths\?/],
  ["CFG-009 another case", { ZeroAccessPaths: [".env"] }, /^error .*did you mean zeroAccessPaths\?/],
  ["CFG-009 in a rule", { bashToolPatterns: [{ patern: "x", reason: "r" }] }, /^error .*did you mean pattern\?/],
  ["unknown key", { rules: [] }, /^error r\.yaml:7: rules: is not a known key; known are bashToolPatterns, /],
  [
    "unknown key in a rule",
    { bashToolPatterns: [{ pattern: "x", reason: "r", severity: "low" }] },
    /^warning .*severity/,
  ],
  [
    "a backspace that should be a word's end",
    { bashToolPatterns: [{ pattern: "\bpsql", reason: "r" }] },
    /^error .*rules\/project\/1: pattern holds a control character .*single quotes/,
  ],
  ["a path that asks", { readOnlyPaths: [{ path: "x", ask: true }] }, /^error .*only bashToolPatterns can ask/],
  ["all entries commented out", { zeroAccessPaths: null }, /^warning .*zeroAccessPaths: is empty/],
  ["an unquoted ~", { zeroAccessPaths: [null] }, /^error .*zeroAccessPaths\/1: is empty; .*unquoted ~/],
  ["a number as path", { readOnlyPaths: [8080] }, /^error .*is a number \(8080\)/],
  ["a string as list", { noDeletePaths: "README.md" }, /^error .*is a string \(README\.md\); write a list/],
  ["ask in quotes", { bashToolPatterns: [{ pattern: "x", reason: "r", ask: "true" }] }, /^error .*ask is a string/],
  ["no pattern", { bashToolPatterns: [{ reason: "r" }] }, /^error .*rules\/project\/1: pattern is missing/],
  ["a rule that is a string", { bashToolPatterns: ["rm"] }, /^error .*rules\/project\/1: is a string/],
  ["no reason", { bashToolPatterns: [{ pattern: "x" }] }, /^warning .*has no reason/],
  ["CFG-021 $HOME", { zeroAccessPaths: ["$HOME/x"] }, /^error .*holds a variable/],
  ["CFG-021 %USERPROFILE%", { zeroAccessPaths: ["%USERPROFILE%/x"] }, /^error .*holds a variable/],
  ["tools no mapping", { tools: ["bash"] }, /^error .*tools: is a list/],
  ["project sets onInvalidRules", { onInvalidRules: "continue" }, /^warning .*only in the user's own rules/],
  ["bad onInvalidRules", { onInvalidRules: "ignore" }, /^error .*must be `continue` or `read-only`/],
];

test("keys of another program are warnings in a file that it reads, too", () => {
  expect(problemsOf({ contexts: {} }, "project", true)).toEqual([
    expect.stringMatching(
      /^warning r\.yaml:7: contexts: is not a known key and is ignored; known are bashToolPatterns, /,
    ),
  ]);
});

test.each(problematic)("%s", (_, data, problem) => {
  const problems = problemsOf(data);
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.join("\n")).toMatch(problem);
});
