import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtInScenarios } from "#scenarios/built-in-scenarios";
import { parseScenarios } from "#scenarios/parse-scenarios";
import { describeScenarioProblem, type ScenarioSource } from "#scenarios/scenario";

const source: ScenarioSource = {
  file: "team.yaml",
  lineOf: (path, needle) => (needle === undefined ? path.length : 40),
};
const readers = ["Read", "LS", "Grep", "Glob", "WebFetch", "WebSearch"];
const writers = [
  ...["Write", "Edit", "MultiEdit", "apply_patch", "NotebookEdit", "Delete", "Move", "Bash", "KillShell"],
  "RunInTerminal",
];

function parseOne(definition: unknown, name = "REVIEW") {
  const { scenarios, problems } = parseScenarios({ [name]: definition }, source, builtInScenarios);
  return { scenario: scenarios[0], problems: problems.map(describeScenarioProblem) };
}

describe("parseScenarios", () => {
  it.each<[unknown, readonly string[], readonly string[]]>([
    ["todo, default, mcp:*", ["TodoRead", "TodoWrite", ...readers], ["*"]],
    [
      "filesystem, default",
      [
        ...["Read", "LS", "Write", "Edit", "MultiEdit", "apply_patch", "NotebookEdit", "Delete", "Move", "Grep"],
        ...["Glob", "WebFetch", "WebSearch"],
      ],
      [],
    ],
    [
      ["bash", "MCP:serverA", "mcp:serverB"],
      ["Bash", "BashOutput", "KillShell", "RunInTerminal"],
      ["serverA", "serverB"],
    ],
    ["proposal, search", ["ProposeChanges", "Grep", "Glob"], []],
    ["default, web", readers, []],
    ["Read, todo_write, runinterminal", ["Read", "TodoWrite", "RunInTerminal"], []],
    ["", readers, []],
    [undefined, readers, []],
    [null, readers, []],
  ])("reads the tools %j", (tools, names, mcp) => {
    const { scenario, problems } = parseOne({ tools, description: "d", prompt: "p" });
    expect(problems).toEqual([]);
    expect(scenario).toMatchObject({ tools: names, mcp, source: "team.yaml" });
  });

  it.each<[string, string, unknown, RegExp]>([
    [
      "an unknown tool",
      "A",
      { tools: "solver, default", prompt: "p" },
      /^team\.yaml:40: A\.tools: "solver" is not a tool or group and is ignored; groups are default,/,
    ],
    ["an unknown field", "A", { model: "x", prompt: "p" }, /^team\.yaml:2: A\.model: is not known/],
    ["a reader that becomes a writer", "RESPOND", { tools: "bash" }, /can change things as written here/],
  ])("warns of %s", (_name, name, definition, message) => {
    const { scenario, problems } = parseOne(definition, name);
    expect(scenario).toBeDefined();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(message);
  });

  it.each<[string, string, unknown, RegExp]>([
    [
      "no prompt",
      "A",
      { tools: "default" },
      /^team\.yaml:2: A\.prompt: is missing or empty; write a block of text after `prompt: \|`/,
    ],
    ["an empty prompt", "A", { prompt: "  \n" }, /A\.prompt: is missing or empty/],
    [
      "tools of the wrong shape",
      "A",
      { tools: 3, prompt: "p" },
      /A\.tools: has the wrong shape; write a text such as "default, todo"/,
    ],
    ["a prompt of the wrong shape", "A", { prompt: ["p"] }, /A\.prompt: has the wrong shape/],
    ["no map", "A", "text", /A: has the wrong shape; write a map with/],
    ["a bad name", "__proto__x", { prompt: "p" }, /a name is a letter/],
    [
      "an unknown placeholder",
      "A",
      { prompt: "x {{usrInput}} y" },
      /^team\.yaml:40: A\.prompt: unknown placeholder \{\{usrInput\}\}\. Known are \{\{userInput\}\}, \{\{workingDir\}\}/,
    ],
  ])("refuses %s, and only that scenario", (_name, name, definition, message) => {
    const parsed = parseScenarios({ [name]: definition, GOOD: { prompt: "p" } }, source);
    expect(parsed.scenarios.map((scenario) => scenario.name)).toEqual(["GOOD"]);
    expect(parsed.problems.map(describeScenarioProblem)).toEqual([expect.stringMatching(message)]);
    expect(parsed.problems[0]?.severity).toBe("error");
  });

  it("refuses two names that differ in case only", () => {
    const parsed = parseScenarios({ Review: { prompt: "1" }, REVIEW: { prompt: "2" } }, source);
    expect(parsed.scenarios).toMatchObject([{ name: "REVIEW", prompt: "1" }]);
    expect(parsed.problems).toMatchObject([{ code: "duplicate_name" }]);
  });

  it.each([[null], [undefined], [{}]])("reads nothing from %j", (data) => {
    expect(parseScenarios(data, source)).toEqual({ scenarios: [], problems: [] });
  });

  it.each([["text"], [[1]], [3]])("refuses a file that is %j", (data) => {
    expect(parseScenarios(data, source)).toMatchObject({
      scenarios: [],
      problems: [{ code: "invalid_file", file: "team.yaml" }],
    });
  });

  it("takes from the built-in scenario what an override leaves out", () => {
    const { scenario } = parseOne({ description: "ours" }, "code");
    const builtIn = builtInScenarios.get("CODE");
    expect(scenario).toEqual({ ...builtIn, description: "ours", source: "team.yaml" });
  });
});

describe("EDITOR_CODE", () => {
  it.each([
    ["EDITOR_CODE", "filesystem, bash, mcp:*"],
    ["editor_code", "code, default, Write, Edit, MultiEdit, Bash, RunInTerminal, Delete, Move"],
    ["Editor_Code", ["bash", "Write"]],
  ])("as %s with %j gains no tool that writes or runs", (name, tools) => {
    const { scenario, problems } = parseOne({ tools, prompt: "p" }, name);
    expect(scenario?.name).toBe("EDITOR_CODE");
    expect(scenario?.tools.filter((tool) => writers.includes(tool))).toEqual([]);
    expect(scenario?.tools).toContain("ProposeChanges");
    expect(scenario?.mcp).toEqual([]);
    expect(problems[0]).toContain("left out");
  });

  it("can be narrowed, and always proposes", () => {
    expect(parseOne({ tools: "search", prompt: "p" }, "EDITOR_CODE").scenario?.tools).toEqual([
      "Grep",
      "Glob",
      "ProposeChanges",
    ]);
    expect(parseOne({ tools: "todo, default", prompt: "p" }, "EDITOR_CODE").problems).toEqual([]);
  });

  it("stays safe whatever the tools say", () => {
    const word = fc.oneof(
      fc.constantFrom("filesystem", "code", "bash", "todo", "Write", "edit", "MULTI_EDIT", "mcp:*"),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word), (tools) => {
        const { scenario } = parseOne({ tools, prompt: "p" }, "EDITOR_CODE");
        const builtIn = builtInScenarios.get("EDITOR_CODE")?.tools ?? [];
        expect(scenario?.tools.every((tool) => builtIn.includes(tool))).toBe(true);
      }),
    );
  });
});

it.each([["filesystem, bash, mcp:*"], ["default, proposal, todo"], ["Write"]])("PLAN: with %j only reads", (tools) => {
  const { scenario, problems } = parseOne({ tools, prompt: "p" }, "plan");
  expect(scenario?.tools.filter((tool) => !readers.includes(tool))).toEqual([]);
  expect(scenario?.mcp).toEqual([]);
  expect(problems[0]).toContain("left out");
});

it("built-in scenarios: are four, and only CODE can write or run", () => {
  expect([...builtInScenarios.keys()]).toEqual(["CODE", "EDITOR_CODE", "RESPOND", "PLAN"]);
  const can = (name: string) => writers.filter((tool) => builtInScenarios.get(name)?.tools.includes(tool));
  expect({ code: can("CODE"), editor: can("EDITOR_CODE"), respond: can("RESPOND") }).toEqual({
    code: writers,
    editor: [],
    respond: [],
  });
  expect(builtInScenarios.get("RESPOND")?.tools).toEqual([...readers, "Explore"]);
  expect(builtInScenarios.get("CODE")?.toolsText).toBe("filesystem, default, todo, bash, agents, mcp:*");
});
