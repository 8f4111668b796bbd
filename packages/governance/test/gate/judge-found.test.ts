import { describe, expect, test } from "vitest";
import * as z from "zod";
import { analyseCommand } from "#command/analyse-command";
import type { Answer } from "#confirmation";
import type { Effect } from "#effect";
import type { GateOptions } from "#gate/gate-options";
import type { Judgement, Tool } from "#tool";
import { allow, ask, deny } from "#verdict";
import { finding, gateWith } from "./gate-fixture.ts";

const path = { raw: "made.txt", relative: "made.txt", absolute: "/ws/made.txt", inside: true };
const made: Effect = {
  type: "write",
  operation: "create",
  path,
  base: undefined,
  current: undefined,
  found: { agreed: false, tracked: false, ignored: false, traits: [] },
};

/** A tool that runs a command, has judged that it made a file, and says what it heard. */
function stagedTool(heard: Judgement[], effects: readonly Effect[] = [made]): Tool {
  return {
    name: "Bash",
    description: "",
    access: "change",
    parameters: z.strictObject({}),
    async analyse() {
      const command = analyseCommand("make it", { cwd: "/ws", home: "/home/dev" });
      const cwd = { raw: ".", relative: "", absolute: "/ws", inside: true };
      return { statement: "Run", effects: [{ type: "exec", command, cwd, where: "server", staged: true }] };
    },
    async execute(_args, _analysis, { judge }) {
      const diff = () => "+++ b/made.txt\n+made\n";
      heard.push(await judge({ statement: "Keep it", effects, operands: { changes: "digest" }, diff }));
      return { output: "ran" };
    },
  };
}

/** Rules that look only at what was found. */
function bench(verdict: ReturnType<typeof ask>, more: Partial<GateOptions> & { readonly answer?: Answer } = {}) {
  const heard: Judgement[] = [];
  const tools = new Map([["Bash", stagedTool(heard)]]);
  const onFound: GateOptions["policies"][number] = {
    name: "on-found",
    kind: "guard",
    decide: ({ analysis }) => (analysis.effects.some(({ type }) => type === "write") ? verdict : allow),
  };
  return { heard, ...gateWith({ tools, policies: [onFound], ...more }) };
}

describe("what a call did where nobody sees it yet", () => {
  test("what the rules allow is kept, and recorded before", async () => {
    const { heard, run, steps, questions } = bench(allow);
    const [result] = await run("Bash");
    expect(heard).toEqual([{ type: "keep" }]);
    expect(result).toMatchObject({ refused: false, error: undefined });
    expect(steps).toEqual(["begin c1", "begin c1", "end c1:ran"]);
    expect(questions).toEqual([]);
  });

  test("what a rule refuses is dropped, and the record names the rule", async () => {
    const { heard, run, steps, decisions } = bench(deny(finding));
    await run("Bash");
    expect(heard).toEqual([{ type: "drop", error: expect.objectContaining({ code: "no", rule: "test/rule" }) }]);
    expect(steps).toEqual(["begin c1", "end c1:ran"]);
    expect(decisions.map(({ verdict, rule }) => `${verdict} ${rule}`)).toEqual(["allow ", "deny test/rule"]);
  });

  test("a person is asked about what would be kept, once", async () => {
    const { heard, run, questions } = bench(ask(finding));
    await run("Bash");
    expect(heard).toEqual([{ type: "keep" }]);
    const diff = "+++ b/made.txt\n+made\n";
    expect(questions).toMatchObject([{ actionStatement: "Keep it", computed: { paths: ["made.txt"] }, diff }]);
    expect(questions[0]?.title).toBe("Keep what Bash changed?");
    // No yes to the call itself is one to this.
    expect(JSON.parse(questions[0]?.actionJson ?? "")).toMatchObject({ done: true, operands: { changes: "digest" } });
  });

  test.each<[string, Answer, RegExp]>([
    ["no", { type: "no", reason: "not this", by: "user" }, /not this/],
    ["nobody", { type: "nobody" }, /nobody can be asked, so nothing of it was kept/],
    ["timeout", { type: "timeout" }, /in time, so nothing of it was kept/],
    ["unclear", { type: "unclear", by: "user" }, /so nothing of it was kept/],
  ])("without a yes (%s) it is dropped", async (_name, answer, message) => {
    const { heard, run, steps } = bench(ask(finding), { answer });
    await run("Bash");
    expect(heard).toMatchObject([{ type: "drop", error: { message: expect.stringMatching(message) } }]);
    expect(steps.filter((step) => step.startsWith("begin"))).toEqual(["begin c1"]);
  });

  test("after a yes it is judged again: what is refused by now is dropped", async () => {
    let asked = false;
    const moving: GateOptions["policies"][number] = {
      name: "moving",
      kind: "guard",
      decide: ({ analysis }) => {
        if (!analysis.effects.some(({ type }) => type === "write")) return allow;
        return asked ? deny({ ...finding, rule: "test/moved" }) : ask(finding);
      },
    };
    const confirmer: GateOptions["confirmer"] = {
      ask: async () => {
        asked = true;
        return { type: "yes", scope: "once", by: "user" };
      },
    };
    const { heard, run, steps } = bench(allow, { policies: [moving], confirmer });
    await run("Bash");
    expect(heard).toMatchObject([{ type: "drop", error: { rule: "test/moved" } }]);
    expect(steps.filter((step) => step.startsWith("begin"))).toEqual(["begin c1"]);
  });

  test("a stop by the emergency controls while the question is open keeps nothing", async () => {
    const refusal = deny({ code: "read_only_mode", rule: "emergency/read-only", reason: "Read-only mode is on." });
    const listeners: (() => void)[] = [];
    let verdict: typeof refusal = allow;
    const { heard, run, steps } = bench(ask(finding), {
      confirmer: {
        ask: async () => {
          verdict = refusal;
          for (const listener of listeners) listener();
          return { type: "yes", scope: "once", by: "user" };
        },
      },
      standingCheck: {
        check: () => verdict,
        onChange: (listener) => {
          listeners.push(listener);
          return { [Symbol.dispose]: () => undefined };
        },
      },
    });
    const [result] = await run("Bash");
    expect(heard).toEqual([]);
    expect(result?.error).toMatchObject({ code: "read_only_mode" });
    expect(steps.filter((step) => step.startsWith("begin"))).toEqual(["begin c1"]);
  });

  test("a rule that fails keeps nothing", async () => {
    const failing: GateOptions["policies"][number] = {
      name: "failing",
      kind: "guard",
      decide: ({ analysis }) => {
        if (analysis.effects.some(({ type }) => type === "write")) throw new Error("broken");
        return allow;
      },
    };
    const { heard, run } = bench(allow, { policies: [failing] });
    await run("Bash");
    expect(heard).toMatchObject([{ type: "drop", error: { code: "hook_failed" } }]);
  });

  test("a record that cannot be written keeps nothing", async () => {
    const { options, heard } = bench(allow);
    let begun = 0;
    const journal = {
      ...options.journal,
      begin: async () => {
        begun += 1;
        if (begun === 2) throw new Error("disk full");
      },
    };
    const { run } = gateWith({ ...options, journal });
    const [result] = await run("Bash");
    expect(heard).toEqual([]);
    expect(result?.error).toMatchObject({ code: "internal" });
  });

  test("while the emergency controls forbid it, nothing is kept", async () => {
    let stopped = false;
    const refusal = deny({ code: "read_only_mode", rule: "emergency/read-only", reason: "Read-only mode is on." });
    const { options } = bench(allow);
    const heard: Judgement[] = [];
    const tool = stagedTool(heard);
    const listeners: (() => void)[] = [];
    const { run } = gateWith({
      ...options,
      tools: new Map<string, Tool>([
        [
          "Bash",
          {
            ...tool,
            execute: (args, analysis, context) => {
              stopped = true;
              for (const listener of listeners) listener();
              return tool.execute(args, analysis, context);
            },
          },
        ],
      ]),
      standingCheck: {
        check: () => (stopped ? refusal : allow),
        onChange: (listener) => {
          listeners.push(listener);
          return { [Symbol.dispose]: () => undefined };
        },
      },
    });
    await run("Bash");
    expect(heard).toMatchObject([{ type: "drop", error: { code: "read_only_mode" } }]);
  });
});
