import type { Answer } from "@gennai/governance/confirmation";
import { governTools } from "@gennai/governance/gate/gate";
import type { Tool } from "@gennai/governance/tool";
import { allow, ask, deny, type Verdict } from "@gennai/governance/verdict";
import { describe, expect, it } from "vitest";
import { toJSONSchema } from "zod";
import { gateWith } from "../../../governance/test/gate/gate-with.ts";
import { ToolBench } from "./tool-bench.ts";

/** A call of each tool that would do something if it ran. A tool without a row fails the first test. */
const emptyNotebook = '{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}';

const calls: Readonly<Record<string, object>> = {
  Read: { file_path: "a.txt" },
  LS: {},
  Glob: { pattern: "*.txt" },
  Grep: { pattern: "one" },
  Write: { file_path: "new.txt", content: "new\n" },
  Edit: { file_path: "a.txt", old_string: "one", new_string: "two" },
  MultiEdit: { file_path: "a.txt", edits: [{ old_string: "one", new_string: "two" }] },
  NotebookEdit: { file_path: "a.ipynb", edit_mode: "insert", new_source: "x" },
  Delete: { file_path: "a.txt" },
  Move: { from: "a.txt", to: "b.txt" },
  Bash: { command: "echo ran > made.txt" },
  RunInTerminal: { command: "echo ran" },
  ProposeChanges: { changes: [{ path: "a.txt", operation: "update", new_content: "two\n" }] },
  apply_patch: { input: "*** Begin Patch\n*** Update File: a.txt\n-one\n+two\n*** End Patch" },
  TodoRead: {},
  TodoWrite: { todos: [{ content: "x", status: "pending" }] },
  select_active_intent: { intent_id: "INT-001" },
  request_scope_expansion: { paths: ["lib/**"], reason: "needed" },
  record_lesson: { lesson: "Look before you leap." },
};

const finding = { code: "no", rule: "test/rule", reason: "Because." };
const rows: readonly {
  readonly name: string;
  readonly verdict: Verdict;
  readonly answer: Answer;
  readonly runs: boolean;
}[] = [
  { name: "allow", verdict: allow, answer: { type: "nobody" }, runs: true },
  { name: "deny", verdict: deny(finding), answer: { type: "yes", scope: "once", by: "user" }, runs: false },
  { name: "ask, yes", verdict: ask(finding), answer: { type: "yes", scope: "once", by: "user" }, runs: true },
  { name: "ask, no", verdict: ask(finding), answer: { type: "no", reason: "", by: "user" }, runs: false },
  { name: "ask, no answer in time", verdict: ask(finding), answer: { type: "timeout" }, runs: false },
  { name: "ask, nobody there", verdict: ask(finding), answer: { type: "nobody" }, runs: false },
];

function bench(): ToolBench {
  const made = new ToolBench();
  made.file("a.txt", "one\n");
  made.file("a.ipynb", emptyNotebook);
  made.editor.abilities.add("command");
  made.file(
    ".orchestration/active_intents.yaml",
    "active_intents: [{ id: INT-001, name: Work, status: active, owned_scope: [src/**] }]\n",
  );
  made.activeIntent = "INT-001";
  return made;
}

describe("seed 003 §2.1, seed 001 intercept: nothing runs silently", () => {
  it("has a row for every tool", () => {
    using made = bench();
    expect([...made.tools.keys()].filter((name) => calls[name] === undefined)).toEqual([]);
  });

  it("knows other names only of arguments that there are", () => {
    using made = bench();
    for (const { otherNames = {}, parameters } of made.tools.values()) {
      const schema = JSON.stringify(toJSONSchema(parameters, { io: "input" }));
      for (const usual of Object.values(otherNames)) expect(schema).toContain(`${JSON.stringify(usual)}:{`);
    }
  });

  using names = bench();
  const table = [...names.tools.keys()].flatMap((tool) => rows.map((row) => ({ tool, ...row })));

  it.each(table)("$tool, $name: runs $runs", async ({ tool: name, verdict, answer, runs }) => {
    using made = bench();
    const executed: string[] = [];
    const tools = new Map<string, Tool>(
      [...made.tools].map(([key, tool]) => [
        key,
        {
          ...tool,
          execute: (args, analysis, context) => {
            executed.push(key);
            return tool.execute(args, analysis, context);
          },
        },
      ]),
    );
    const governed = governTools(
      gateWith({
        tools,
        policies: [{ name: "row", kind: "guard", decide: () => verdict }],
        confirmer: { ask: async () => answer },
        policySha256: "",
      }),
    );
    // What other agents have their models say about a call is not a mistake.
    const args = { description: "what", explanation: "why", ...calls[name] };
    const call = { id: "c", name, argumentsJson: JSON.stringify(args) };
    const [result] = await governed.run([call], { turnId: "t", signal: new AbortController().signal });
    expect(executed).toEqual(runs ? [name] : []);
    expect(result?.refused).toBe(!runs);
    if (!runs) {
      expect(made.text("a.txt")).toBe("one\n");
      expect(made.text("a.ipynb")).toBe(emptyNotebook);
      expect([made.text("new.txt"), made.text("b.txt"), made.text("made.txt")]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect(made.editor.asked.filter((request) => "command" in request)).toEqual([]);
    }
  });
});
