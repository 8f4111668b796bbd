import { describe, expect, it } from "vitest";
import { describeIntentProblem } from "#intents/intent-problem";
import { parseIntents } from "#intents/parse-intents";

function parse(data: unknown) {
  const parsed = parseIntents(data, { file: "intents.yaml", lineOf: (path: readonly unknown[]) => path.length });
  return { ...parsed, problems: parsed.problems.map(describeIntentProblem) };
}

const canonical = {
  id: "INT-001",
  name: "Login",
  status: "active",
  owned_scope: ["src/**"],
  constraints: ["no new dependency"],
  acceptance_criteria: ["tests pass"],
};
const intent = {
  id: "INT-001",
  name: "Login",
  status: "active",
  selectable: true,
  ownedScope: ["src/**"],
  constraints: ["no new dependency"],
  acceptanceCriteria: ["tests pass"],
};

describe("seed 001 context: active_intents.yaml, the intent registry (id, name, status, owned_scope, constraints, acceptance_criteria)", () => {
  it("is read in its canonical form without a word", () => {
    expect(parse({ active_intents: [canonical] })).toEqual({ readable: true, intents: [intent], problems: [] });
  });

  it.each<[string, unknown, Partial<typeof intent>, readonly string[]]>([
    ["intents:", { intents: [canonical] }, {}, ["`intents` is read as `active_intents`"]],
    ["a bare list", [canonical], {}, ["is a bare list"]],
    ["a map by id", { active_intents: { "INT-001": { ...canonical, id: undefined } } }, {}, ["is a map by id"]],
    [
      "camel case",
      {
        active_intents: [
          {
            id: "INT-001",
            title: "Login",
            status: "active",
            ownedScope: ["src/**"],
            constraints: ["no new dependency"],
            acceptanceCriteria: ["tests pass"],
          },
        ],
      },
      {},
      ["`title` is read as `name`", "`ownedScope` is read as `owned_scope`", "`acceptanceCriteria` is read as"],
    ],
    [
      "scope",
      { active_intents: [{ ...canonical, owned_scope: undefined, scope: ["lib"] }] },
      { ownedScope: [] },
      ["`scope` is ignored", "owns nothing"],
    ],
    [
      "scope alone",
      { active_intents: [{ id: "a", name: "n", status: "active", scope: ["lib"] }] },
      { id: "a", name: "n", ownedScope: ["lib"], constraints: [], acceptanceCriteria: [] },
      ["`scope` is read as `owned_scope`"],
    ],
    [
      "a text in place of a list",
      { active_intents: [{ ...canonical, owned_scope: "src/**\n- docs/**\n" }] },
      { ownedScope: ["src/**", "docs/**"] },
      ["`owned_scope` should be a list"],
    ],
    ["a number as id", { active_intents: [{ ...canonical, id: 7 }] }, { id: "7" }, []],
    ["no name", { active_intents: [{ ...canonical, name: undefined }] }, { name: "INT-001" }, ["has no name"]],
    ["unknown fields", { active_intents: [{ ...canonical, owner: "ann" }], version: 1 }, {}, []],
    [
      "backslashes",
      { active_intents: [{ ...canonical, owned_scope: ["src\\auth\\**"] }] },
      { ownedScope: ["src\\auth\\**"] },
      ["write / between directories"],
    ],
    [
      "an entry that leads out",
      { active_intents: [{ ...canonical, owned_scope: ["src/**", "../x"] }] },
      {},
      ["the entry owns nothing"],
    ],
    [
      "an exclusion that cannot be obeyed",
      { active_intents: [{ ...canonical, owned_scope: ["src/**", "!+(a|aa)"] }] },
      { selectable: false },
      ["cannot be selected until this is corrected"],
    ],
    [
      "a scope that is a map",
      { active_intents: [{ ...canonical, owned_scope: { files: ["a"] } }] },
      { ownedScope: [] },
      ["must be a list of texts", "owns nothing"],
    ],
  ])("is read from %s, with a warning", (_name, data, wanted, problems) => {
    const parsed = parse(data);
    expect(parsed.intents).toEqual([{ ...intent, ...wanted }]);
    expect(parsed.problems).toEqual(problems.map((part): unknown => expect.stringContaining(part)));
    for (const problem of parsed.problems) expect(problem).toMatch(/^intents\.yaml:\d+: /);
  });

  it.each([
    ["active", true],
    ["ACTIVE", true],
    ["in_progress", true],
    ["in-progress", true],
    ["In Progress", true],
    ["IN_PROGRESS", true],
    ["open", false],
    ["done", false],
    ["Completed", false],
    ["draft", false],
    ["blocked", false],
    ["planned", false],
    ["inactive", false],
    ["activ", false],
    [undefined, false],
  ])("only a status that means active can be selected: %s -> %s", (status, selectable) => {
    expect(parse({ active_intents: [{ ...canonical, status }] }).intents[0]?.selectable).toBe(selectable);
  });

  it("makes two intents with one id an error for both", () => {
    const { intents, problems } = parse({
      active_intents: [canonical, { ...canonical, id: "int-001" }, { ...canonical, id: "b" }],
    });
    expect(intents.map(({ id, selectable }) => [id, selectable])).toEqual([
      ["INT-001", false],
      ["int-001", false],
      ["b", true],
    ]);
    expect(problems).toHaveLength(2);
  });

  it.each(["../../x", "a/b", "", "a\nb", "<b>", "a..b", "x".repeat(101), undefined, ["a"]])(
    "refuses the id %j",
    (id) => {
      const { intents, problems } = parse({
        active_intents: [
          { ...canonical, id },
          { ...canonical, id: "ok" },
        ],
      });
      expect(intents.map((each) => each.id)).toEqual(["ok"]);
      expect(problems).toHaveLength(1);
    },
  );

  it.each([
    ["a text", "hello", false],
    ["another map", { tasks: [] }, false],
    ["a number for a list", { active_intents: 3 }, false],
    ["an empty file", null, true],
    ["an empty list", { active_intents: [] }, true],
    ["no list yet", { active_intents: null }, true],
  ])("says whether it is a list of intents: %s", (_name, data, readable) => {
    expect(parse(data)).toMatchObject({ readable, intents: [] });
  });
});
