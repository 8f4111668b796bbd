import type { Answer, Question } from "@gennai/governance/confirmation";
import { governTools } from "@gennai/governance/gate/gate";
import type { Decision, GateJournal } from "@gennai/governance/gate/gate-journal";
import type { GateOptions } from "@gennai/governance/gate/gate-options";
import type { LastingAnswers } from "@gennai/governance/gate/lasting-answers";
import { RememberedAnswers } from "@gennai/governance/gate/remembered-answers";
import type { Policy } from "@gennai/governance/policy";
import type { Tool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { allow, ask, deny, type Verdict } from "@gennai/governance/verdict";
import { describe, expect, it } from "vitest";
import * as z from "zod";

const path = { raw: "a.txt", relative: "a.txt", absolute: "/ws/a.txt", inside: true };
const finding = { code: "no", rule: "test/rule", reason: "Because." };

/** A gate over one reading and one changing tool, with everything it did written down in order. */
function gateWith(
  overrides: Partial<GateOptions> & { readonly verdicts?: readonly Verdict[]; readonly answer?: Answer } = {},
) {
  const steps: string[] = [];
  const decisions: Decision[] = [];
  const questions: Question[] = [];
  const tool = (name: string, access: "read" | "change"): Tool<{ value?: string | undefined }> => ({
    name,
    description: name,
    access,
    parameters: z.strictObject({ value: z.string().optional() }),
    async analyse(args) {
      if (args.value === "unanalysable") throw new ToolFailure("bad_path", "No such thing.", { retryable: true });
      if (args.value === "quotes")
        throw new ToolFailure("no_match", "Not there: secret", { hint: "The file has secret." });
      return {
        statement: `${name} a.txt`,
        effects:
          access === "read"
            ? [{ type: "read", path }]
            : [{ type: "write", operation: "update", path, base: undefined, current: undefined }],
      };
    },
    async execute(args) {
      steps.push(`execute ${name}`);
      if (args.value === "throws") throw new Error("boom");
      if (args.value === "quotes late") throw new ToolFailure("io_error", "Late: secret", { hint: "It has secret." });
      if (args.value === "fails") throw new ToolFailure("stale_file", "Stale File: a.txt", { retryable: true });
      return { output: `done secret ${args.value ?? ""}` };
    },
  });
  const tools = new Map<string, Tool>([
    ["Look", tool("Look", "read")],
    ["Change", tool("Change", "change")],
    ["Alone", { ...tool("Alone", "read"), alone: true }],
  ]);
  const verdicts = [...(overrides.verdicts ?? [allow])];
  const journal: GateJournal = {
    decided: (decision) => void decisions.push(decision),
    begin: async (begun) => void steps.push(`begin ${begun.map(({ call }) => call.id).join("+")}`),
    end: async (ended) => {
      steps.push(
        `end ${ended.map(({ result }) => `${result.call.id}:${result.outcome === undefined ? "refused" : "ran"}`).join("+")}`,
      );
    },
    output: () => undefined,
    warn: (text) => void steps.push(`warn ${text}`),
  };
  const options: GateOptions = {
    sessionId: "s",
    tools,
    policies: [
      {
        name: "scripted",
        kind: "guard",
        decide: () => (verdicts.length > 1 ? (verdicts.shift() ?? allow) : (verdicts[0] ?? allow)),
      },
    ],
    confirmer: {
      ask: async (question) => {
        questions.push(question);
        steps.push("ask");
        return overrides.answer ?? { type: "yes", scope: "once", by: "user" };
      },
    },
    journal,
    redactor: {
      redact: async (text) => text.replaceAll("secret", "[REDACTED:test]"),
      stream: () => ({ push: async (text) => text, end: async () => "" }),
    },
    remembered: new RememberedAnswers(),
    policySha256: "p",
    policyTimeoutMs: 50,
    now: () => 0,
    ...overrides,
  };
  const gate = governTools(options);
  const run = (name: string, args: unknown = {}, signal = new AbortController().signal) =>
    gate.run([{ id: "c1", name, argumentsJson: typeof args === "string" ? args : JSON.stringify(args) }], {
      turnId: "t",
      signal,
    });
  return { gate, run, steps, decisions, questions, options };
}

describe("seed 001 intercept, seed 004 §2 every-call: nothing runs without allow", () => {
  const rows: readonly { name: string; verdicts: readonly Verdict[]; answer?: Answer; runs: boolean; code?: string }[] =
    [
      { name: "allow", verdicts: [allow], runs: true },
      { name: "deny", verdicts: [deny(finding)], runs: false, code: "no" },
      { name: "ask, yes", verdicts: [ask(finding)], answer: { type: "yes", scope: "once", by: "user" }, runs: true },
      {
        name: "ask, no",
        verdicts: [ask(finding)],
        answer: { type: "no", reason: "not today", by: "user" },
        runs: false,
        code: "user_denied",
      },
      {
        name: "ask, timeout",
        verdicts: [ask(finding)],
        answer: { type: "timeout" },
        runs: false,
        code: "confirmation_timeout",
      },
      {
        name: "ask, nobody there",
        verdicts: [ask(finding)],
        answer: { type: "nobody" },
        runs: false,
        code: "nobody_to_ask",
      },
      {
        name: "ask, yes, then the world denies",
        verdicts: [ask(finding), deny(finding)],
        answer: { type: "yes", scope: "once", by: "user" },
        runs: false,
        code: "no",
      },
    ];
  for (const tool of ["Look", "Change"]) {
    it.each(rows)(`${tool}: $name`, async ({ verdicts, answer, runs, code }) => {
      const { run, steps } = gateWith({ verdicts, ...(answer === undefined ? {} : { answer }) });
      const [result] = await run(tool);
      expect(steps.includes(`execute ${tool}`)).toBe(runs);
      expect(result?.refused).toBe(!runs);
      expect(result?.error?.code).toBe(code);
      expect(steps.at(-1)).toBe(runs ? "end c1:ran" : "end c1:refused");
    });
  }

  it("tells the model the user's reason", async () => {
    const { run } = gateWith({ verdicts: [ask(finding)], answer: { type: "no", reason: "not today", by: "user" } });
    const [result] = await run("Change");
    expect(JSON.parse(result?.output ?? "")).toEqual({
      error: expect.objectContaining({
        code: "user_denied",
        message: "User denied execution: not today",
        rule: "test/rule",
        retryable: false,
      }),
    });
  });

  it("does not let one hook's ask silence another's deny", async () => {
    const policies: Policy[] = [
      { name: "asks", kind: "guard", decide: () => ask(finding) },
      { name: "denies", kind: "guard", decide: () => deny({ ...finding, code: "second" }) },
      { name: "allows", kind: "guard", decide: () => allow },
    ];
    const { run, steps } = gateWith({ policies });
    expect((await run("Change"))[0]?.error?.code).toBe("second");
    expect(steps).not.toContain("ask");
  });

  it("denies when there is no policy at all", async () => {
    const { run } = gateWith({ policies: [] });
    expect((await run("Look"))[0]?.error?.code).toBe("no_policy");
  });
});

describe("seed 003 §2.3, seed 003 §12 registry: what is no call", () => {
  it.each([
    { name: "unknown tool", tool: "Nope", args: {}, code: "unknown_tool" },
    { name: "not JSON", tool: "Look", args: "{", code: "bad_arguments" },
    { name: "unknown argument", tool: "Look", args: { approved: true }, code: "bad_arguments" },
    { name: "wrong type", tool: "Look", args: { value: 1 }, code: "bad_arguments" },
    { name: "lone surrogate", tool: "Look", args: '{"value":"\\ud800"}', code: "bad_arguments" },
    { name: "analysis fails", tool: "Change", args: { value: "unanalysable" }, code: "bad_path" },
  ])("$name", async ({ tool, args, code }) => {
    const { run, steps } = gateWith();
    const [result] = await run(tool, args);
    expect(result?.error?.code).toBe(code);
    expect(steps.filter((step) => step.startsWith("execute"))).toEqual([]);
  });
});

describe("seed 001 fail-safe: hooks fail closed", () => {
  const broken: readonly { name: string; decide: Policy["decide"] }[] = [
    {
      name: "throws",
      decide: () => {
        throw new Error("hook broke");
      },
    },
    { name: "rejects", decide: () => Promise.reject(new Error("hook broke")) },
    { name: "hangs", decide: () => new Promise<Verdict>(() => undefined) },
    { name: "returns garbage", decide: () => ({ type: "sure" }) as unknown as Verdict },
    { name: "returns nothing", decide: () => undefined as unknown as Verdict },
  ];
  it.each(broken)("a guard that $name denies", async ({ decide }) => {
    for (const tool of ["Look", "Change"]) {
      const { run, steps } = gateWith({ policies: [{ name: "h", kind: "guard", decide }] });
      expect((await run(tool))[0]?.error?.code).toBe("hook_failed");
      expect(steps).not.toContain(`execute ${tool}`);
    }
  });
  it.each(broken)(
    "an observer that $name lets a pure read go on with a warning, and denies a change",
    async ({ decide }) => {
      const policies: Policy[] = [
        { name: "fine", kind: "guard", decide: () => allow },
        { name: "h", kind: "observer", decide },
      ];
      const reading = gateWith({ policies });
      await reading.run("Look");
      expect(reading.steps).toContain("execute Look");
      expect(reading.steps.some((step) => step.startsWith("warn The hook h"))).toBe(true);
      const changing = gateWith({ policies });
      expect((await changing.run("Change"))[0]?.error?.code).toBe("hook_failed");
    },
  );
});

describe("records", () => {
  it("writes ahead before it executes, and the outcome after", async () => {
    const { run, steps } = gateWith();
    await run("Change");
    expect(steps).toEqual(["begin c1", "execute Change", "end c1:ran"]);
  });

  it("runs nothing when the write-ahead record cannot be written", async () => {
    const { options } = gateWith();
    const { run, steps } = gateWith({
      journal: { ...options.journal, begin: () => Promise.reject(new Error("disk full")) },
    });
    await expect(run("Change")).rejects.toThrow("disk full");
    expect(steps).toEqual([]);
  });

  it("records neighbouring reads as one and runs changes one by one, in order", async () => {
    const { gate, steps } = gateWith();
    const calls = ["Look", "Look", "Change", "Change", "Look"].map((name, index) => ({
      id: `c${index}`,
      name,
      argumentsJson: "{}",
    }));
    const results = await gate.run(calls, { turnId: "t", signal: new AbortController().signal });
    expect(results.map(({ call }) => call.id)).toEqual(["c0", "c1", "c2", "c3", "c4"]);
    expect(steps.filter((step) => !step.startsWith("execute"))).toEqual([
      "begin c0+c1",
      "end c0:ran+c1:ran",
      "begin c2",
      "end c2:ran",
      "begin c3",
      "end c3:ran",
      "begin c4",
      "end c4:ran",
    ]);
  });

  it("runs a read that rests on the ones before it after them, and not beside them", async () => {
    const { gate, steps } = gateWith();
    const calls = ["Look", "Alone", "Look"].map((name, index) => ({ id: `c${index}`, name, argumentsJson: "{}" }));
    await gate.run(calls, { turnId: "t", signal: new AbortController().signal });
    expect(steps.filter((step) => step.startsWith("begin"))).toEqual(["begin c0", "begin c1", "begin c2"]);
  });

  it("redacts what the model reads and what is recorded, and shows the person who approves all of it", async () => {
    const { run, decisions, questions } = gateWith({ verdicts: [ask(finding)] });
    const [result] = await run("Change", { value: "secret" });
    expect(result?.output).toBe("done [REDACTED:test] [REDACTED:test]");
    expect(decisions[0]?.input).toBe('{"value":"[REDACTED:test]"}');
    expect(questions[0]?.actionJson).toContain('"value":"secret"');
  });
});

describe("a yes for the workspace", () => {
  const answer: Answer = { type: "yes", scope: "workspace", by: "user" };

  /** Keeps one yes, for one call's question. */
  function lasting(kept: { action?: string; rules?: readonly string[] } = {}): LastingAnswers {
    return {
      offer: () => "It holds for good.",
      find: async ({ actionSha256 }, rules) =>
        actionSha256 === kept.action && rules.every((rule) => kept.rules?.includes(rule))
          ? { callId: "old" }
          : undefined,
      remember: async ({ actionSha256 }, rules) => {
        kept.action = actionSha256;
        kept.rules = rules;
      },
    };
  }

  it("is offered where answers are kept, asked once, and recorded as remembered", async () => {
    const kept = lasting();
    const first = gateWith({ verdicts: [ask(finding)], lasting: kept, answer });
    await first.run("Change");
    expect(first.questions[0]).toMatchObject({
      offeredScopes: ["once", "turn", "session", "workspace"],
      rememberStatement: expect.stringContaining("It holds for good."),
    });
    // Another session's gate, with nothing in its memory.
    const second = gateWith({ verdicts: [ask(finding)], lasting: kept });
    expect((await second.run("Change"))[0]?.refused).toBe(false);
    expect(second.questions).toEqual([]);
    const other = gateWith({ verdicts: [ask({ ...finding, rule: "test/other" })], lasting: kept });
    await other.run("Change");
    expect(other.questions).toHaveLength(1);
    const changed = gateWith({ verdicts: [ask(finding)], lasting: kept });
    await changed.run("Change", { value: "x" });
    expect(changed.questions).toHaveLength(1);
  });

  it("lifts no deny, and is not offered without a keeper", async () => {
    const kept = lasting();
    await gateWith({ verdicts: [ask(finding)], lasting: kept, answer }).run("Change");
    expect((await gateWith({ verdicts: [deny(finding)], lasting: kept }).run("Change"))[0]?.refused).toBe(true);
    const plain = gateWith({ verdicts: [ask(finding)] });
    await plain.run("Change");
    expect(plain.questions[0]?.offeredScopes).not.toContain("workspace");
  });
});

describe("stopping", () => {
  it("seed 003 §12 post-stop: runs nothing after an abort", async () => {
    const abort = new AbortController();
    abort.abort();
    const { run, steps } = gateWith();
    expect((await run("Change", {}, abort.signal))[0]?.error?.code).toBe("stopped");
    expect(steps).toEqual(["end c1:refused"]);
  });
});

describe("failures while running", () => {
  it.each([
    { value: "fails", code: "stale_file" },
    { value: "throws", code: "internal" },
  ])("$value", async ({ value, code }) => {
    const { run, steps } = gateWith();
    const [result] = await run("Change", { value });
    expect(result?.error?.code).toBe(code);
    expect(result?.output).not.toContain("boom");
    expect(steps.at(-1)).toBe("end c1:ran");
  });
});

describe("remembered answers", () => {
  it("holds for the exact action only", async () => {
    const { run, questions } = gateWith({
      verdicts: [ask(finding)],
      answer: { type: "yes", scope: "session", by: "user" },
    });
    await run("Change", { value: "a" });
    await run("Change", { value: "a" });
    expect(questions).toHaveLength(1);
    await run("Change", { value: "b" });
    expect(questions).toHaveLength(2);
  });
});

describe("what a refusal or a failure quotes", () => {
  const leaking = { ...finding, reason: "It says secret.", hint: "Not secret." };
  it.each([
    { name: "an analysis that fails", args: { value: "quotes" }, verdict: allow },
    { name: "a tool that fails", args: { value: "quotes late" }, verdict: allow },
    { name: "a policy that denies", args: {}, verdict: deny(leaking) },
    { name: "a policy that asks", args: {}, verdict: ask(leaking) },
    { name: "arguments that do not fit", args: { secret: true }, verdict: allow },
  ])("$name", async ({ args, verdict }) => {
    const { run, decisions, questions } = gateWith({ verdicts: [verdict] });
    const results = await run("Change", args);
    const said = JSON.stringify({
      results: results.map(({ output, error }) => ({ output, error })),
      reasons: decisions.map(({ reason }) => reason),
    });
    expect(said).toContain("[REDACTED:test]");
    expect(said + JSON.stringify(questions)).not.toMatch(/secret(?!:)/);
  });
});

it("does not claim that a call which was stopped midway never ran", async () => {
  const stop = new AbortController();
  const { run, options } = gateWith();
  const look = options.tools.get("Look");
  if (look === undefined) throw new Error("There is a tool Look.");
  look.execute = async () => {
    stop.abort();
    throw stop.signal.reason;
  };
  const [result] = await run("Look", {}, stop.signal);
  expect(result).toMatchObject({ refused: false, error: { code: "stopped" } });
  expect(result?.error?.message).not.toContain("did not run");
});
