import { describe, expect, test } from "vitest";
import * as z from "zod";
import { analyseCommand } from "#command/analyse-command";
import type { Answer } from "#confirmation";
import type { Effect } from "#effect";
import type { GateOptions } from "#gate/gate-options";
import type { Decision } from "#gate-journal";
import type { FoundPart, Judgement, Tool } from "#tool";
import { allow, ask, deny, strictest } from "#verdict";
import { finding, gateWith } from "./gate-fixture.ts";

/** A file that a command made. */
function part(name: string, needs: readonly string[] = []): FoundPart {
  const path = { raw: name, relative: name, absolute: `/ws/${name}`, inside: true };
  const made: Effect = {
    type: "write",
    operation: "create",
    path,
    base: undefined,
    current: undefined,
    found: { agreed: false, tracked: false, ignored: false, traits: [] },
  };
  return { id: `id of ${name}`, name, effects: [made], needs };
}

/** A tool that runs a command, has judged that it made a file, and says what it heard. */
function stagedTool(heard: Judgement[], parts: readonly FoundPart[] = [part("made.txt")]): Tool {
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
      heard.push(await judge({ statement: "Keep it", parts, operands: { changes: "digest" }, diff }));
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
    expect(heard).toEqual([{ type: "keep", dropped: [] }]);
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
    expect(heard).toEqual([{ type: "keep", dropped: [] }]);
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

describe("parts of what a call did", () => {
  /** Rules that judge each file by its name, and many of them together. */
  const byName: GateOptions["policies"][number] = {
    name: "by-name",
    kind: "guard",
    decide: ({ analysis }) => {
      const names = analysis.effects.flatMap((effect) => (effect.type === "write" ? [effect.path.relative] : []));
      const rules = names.flatMap((name) => /^(?:ask|deny)/.exec(name)?.[0] ?? []);
      const many = names.filter((name) => name.startsWith("many")).length > 2 ? ["many"] : [];
      return strictest([
        allow,
        ...[...rules, ...many].map((rule) =>
          (rule === "deny" ? deny : ask)({ ...finding, rule: `test/${rule}`, reason: `It is ${rule}.` }),
        ),
      ]);
    },
  };

  function benchOf(parts: readonly FoundPart[], more: Partial<GateOptions> & { readonly answer?: Answer } = {}) {
    const heard: Judgement[] = [];
    const tools = new Map([["Bash", stagedTool(heard, parts)]]);
    return { heard, ...gateWith({ tools, policies: [byName], ...more }) };
  }

  test("of what is refused nothing is kept, and the paths are named by their rules", async () => {
    const { heard, run, questions } = benchOf(["a", "deny1", "b", "ask1", "deny2"].map((name) => part(name)));
    await run("Bash");
    expect(questions).toEqual([]);
    expect(heard).toMatchObject([
      {
        type: "drop",
        error: {
          message: "It is deny. Refused: deny1, deny2 (rule test/deny). Needs a person's yes: ask1 (rule test/ask).",
        },
      },
    ]);
  });

  test.each<[string, readonly string[], readonly string[]]>([
    ["each by itself", ["a", "ask1", "b", "c", "ask2"], ["ask1", "ask2"]],
    [
      "many together, of which none is asked about alone",
      ["many1", "many2", "many3", "many4"],
      ["many1", "many2", "many3", "many4"],
    ],
    ["what is asked about besides many", ["ask1", "many1", "many2", "many3"], ["ask1", "many1", "many2", "many3"]],
  ])("a question tells what is asked about from the rest: %s", async (_name, names, asked) => {
    const { questions, run } = benchOf(names.map((name) => part(name)));
    await run("Bash");
    const offered = questions[0]?.parts ?? [];
    expect(offered.map(({ name }) => name)).toEqual(names);
    expect(offered.filter(({ rule }) => rule !== "").map(({ name }) => name)).toEqual(asked);
  });

  test("the rest is kept, and what needs what was not wanted goes with it; the record says who chose", async () => {
    const answer: Answer = { type: "yes", scope: "once", by: "somebody", dropped: ["id of ask"] };
    const parts = [part("a"), part("ask"), part(".git", ["id of ask"])];
    const { heard, options } = benchOf(parts, { answer });
    const begun: Decision[] = [];
    const journal = { ...options.journal, begin: async (all: readonly Decision[]) => void begun.push(...all) };
    await gateWith({ ...options, journal }).run("Bash");
    expect(heard).toMatchObject([{ type: "keep", dropped: [{ name: "ask" }, { name: ".git" }] }]);
    expect(begun.at(-1)).toMatchObject({
      verdict: "allow",
      effects: [{ path: { relative: "a" } }],
      confirmation: { answer: "yes", by: "somebody", dropped: ["ask", ".git"] },
    });
  });

  /** As `git commit` and `git tag` leave it. */
  const tag: FoundPart = {
    ...part("refs/tags/v1", ["id of .git"]),
    effects: [{ type: "git", what: "ref", name: "refs/tags/v1", from: undefined, to: "1", agreed: false }],
  };
  const aboutTags: GateOptions["policies"][number] = {
    name: "about-tags",
    kind: "guard",
    decide: ({ analysis }) => (analysis.effects.some(({ type }) => type === "git") ? ask(finding) : allow),
  };

  test.each<[Answer, readonly FoundPart[], Partial<Judgement>]>([
    [{ type: "nobody" }, [part("a"), part(".git"), tag], { type: "keep", dropped: [tag] }],
    [{ type: "timeout" }, [part("a"), part(".git"), tag], { type: "keep", dropped: [tag] }],
    [{ type: "no", reason: "", by: "somebody" }, [part("a"), part(".git"), tag], { type: "drop" }],
    [{ type: "nobody" }, [part("ask"), part(".git"), tag], { type: "drop" }],
    [{ type: "nobody" }, [tag], { type: "drop" }],
  ])("without a yes, only tags and other branches are dropped alone: %j %#", async (answer, parts, want) => {
    const { heard, run } = benchOf(parts, { answer, policies: [byName, aboutTags] });
    await run("Bash");
    expect(heard).toMatchObject([want]);
  });

  test("where nothing is left of it, nothing is kept", async () => {
    const answer: Answer = { type: "yes", scope: "once", by: "somebody", dropped: ["id of ask"] };
    const { heard, run } = benchOf([part("ask"), part(".git", ["id of ask"])], { answer });
    await run("Bash");
    expect(heard).toMatchObject([{ type: "drop", error: { code: "user_denied" } }]);
  });

  test("people's own programs are asked about the call, and not again about what it did", async () => {
    let calls = 0;
    const hook: GateOptions["policies"][number] = {
      name: "hook",
      kind: "observer",
      stage: "external",
      decide: () => {
        calls += 1;
        return allow;
      },
    };
    const { heard, run } = benchOf([part("a")], { policies: [byName, hook] });
    await run("Bash");
    expect(heard).toEqual([{ type: "keep", dropped: [] }]);
    expect(calls).toBe(1);
  });
});
