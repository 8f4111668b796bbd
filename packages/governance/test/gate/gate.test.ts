import { describe, expect, it } from "vitest";
import type { Answer } from "#confirmation";
import type { Policy } from "#policy";
import { allow, ask, deny, type Verdict } from "#verdict";
import { finding, gateWith } from "./gate-fixture.ts";

describe("seed 001 intercept, seed 004 §2 every-call: nothing runs without allow", () => {
  const yes: Answer = { type: "yes", scope: "once", by: "user" };
  const no: Answer = { type: "no", reason: "not today", by: "user" };
  const rows: readonly (readonly [
    name: string,
    verdicts: readonly Verdict[],
    answer: Answer | undefined,
    code: string | undefined,
  ])[] = [
    ["allow", [allow], undefined, undefined],
    ["deny", [deny(finding)], undefined, "no"],
    ["ask, yes", [ask(finding)], yes, undefined],
    ["ask, no", [ask(finding)], no, "user_denied"],
    ["ask, timeout", [ask(finding)], { type: "timeout" }, "confirmation_timeout"],
    ["ask, nobody there", [ask(finding)], { type: "nobody" }, "nobody_to_ask"],
    ["ask, passed on, and the tool is ours", [ask(finding)], { type: "passed-on", by: "an agent" }, "nobody_to_ask"],
    ["ask, yes, then the world denies", [ask(finding), deny(finding)], yes, "no"],
  ];
  for (const tool of ["Look", "Change"]) {
    it.each(rows)(`${tool}: %s`, async (_name, verdicts, answer, code) => {
      const runs = code === undefined;
      const { run, steps } = gateWith({ verdicts, ...(answer === undefined ? {} : { answer }) });
      const [result] = await run(tool);
      expect(steps.includes(`execute ${tool}`)).toBe(runs);
      expect(result?.refused).toBe(!runs);
      expect(result?.error?.code).toBe(code);
      expect(steps.at(-1)).toBe(runs ? "end c1:ran" : "end c1:refused");
    });
  }

  it("decides, asks, records and runs the arguments as the analysis put them right, and keeps the call as it was made", async () => {
    const judged: unknown[] = [];
    const policy: Policy = {
      name: "p",
      kind: "guard",
      decide: ({ args }) => {
        judged.push(args);
        return ask(finding);
      },
    };
    const { run, questions, decisions } = gateWith({ policies: [policy], answer: yes });
    const [result] = await run("Change", { value: "nearly" });
    expect(result?.output).toMatch(/exactly$/);
    expect(judged).toEqual([{ value: "exactly" }, { value: "exactly" }]);
    expect(questions[0]).toMatchObject({ actionJson: expect.stringContaining('"arguments":{"value":"exactly"}') });
    expect(decisions[0]).toMatchObject({ input: '{"value":"exactly"}', asCalled: 'Change {"value":"nearly"}' });
  });

  it("hands on no half characters of a tool", async () => {
    const [result] = await gateWith().run("Look", { value: "halves" });
    expect(result?.output).toBe("a \ufffd b \ufffd \u{1f600}");
  });

  it("tells the model the user's reason", async () => {
    const { run } = gateWith({ verdicts: [ask(finding)], answer: no });
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

it.each([
  ["unknown tool", "Nope", {}, "unknown_tool", "tool_unavailable"],
  ["not JSON", "Look", "{", "bad_arguments", "command_error"],
  ["unknown argument", "Look", { approved: true }, "bad_arguments", "command_error"],
  ["wrong type", "Look", { value: 1 }, "bad_arguments", "command_error"],
  ["lone surrogate", "Look", '{"value":"\\ud800"}', "bad_arguments", "command_error"],
  ["analysis fails", "Change", { value: "unanalysable" }, "bad_path", "command_error"],
])("seed 003 §2.3, seed 003 §12 registry: what is not a call: %s", async (_name, tool, args, code, failureClass) => {
  const { run, steps } = gateWith();
  const [result] = await run(tool, args);
  expect(result?.error?.code).toBe(code);
  expect(result?.failureClass).toBe(failureClass);
  expect(steps.filter((step) => step.startsWith("execute"))).toEqual([]);
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

it("stopping: seed 003 §12 post-stop: runs nothing after an abort", async () => {
  const abort = new AbortController();
  abort.abort();
  const { run, steps } = gateWith();
  expect((await run("Change", {}, abort.signal))[0]?.error?.code).toBe("stopped");
  expect(steps).toEqual(["end c1:refused"]);
});

it.each([
  { value: "fails", code: "stale_file" },
  { value: "throws", code: "internal", message: "The tool failed unexpectedly." },
  { value: "has a broken disk", code: "io_error", message: "The server's own files failed: EIO: i/o error." },
])("failures while running: $value", async ({ value, code, message }) => {
  const { run, steps } = gateWith();
  const [result] = await run("Change", { value });
  expect(result?.error).toMatchObject({ code, ...(message === undefined ? {} : { message }) });
  expect(result?.output).not.toContain("boom");
  expect(steps.at(-1)).toBe("end c1:ran");
});

const wanting = (value: string, verdict: Verdict = allow): Policy => ({
  name: "hook",
  kind: "observer",
  stage: "external",
  decide: ({ args }) => ((args as { value?: string }).value === value ? verdict : { ...verdict, wanted: { value } }),
});
const judging = (denied: string, judged: unknown[]): Policy => ({
  name: "ours",
  kind: "guard",
  decide: ({ args }) => {
    judged.push((args as { value?: string }).value);
    return (args as { value?: string }).value === denied ? deny(finding) : allow;
  },
});

it.each([
  { name: "run, once judged", hooks: [wanting("good")], judged: ["first", "good"], code: undefined },
  { name: "a policy denies", hooks: [wanting("bad")], judged: ["first", "bad"], code: "no" },
  {
    name: "another hook denies",
    hooks: [
      wanting("good"),
      {
        ...wanting("x"),
        decide: ({ args }: { args: unknown }) => ((args as { value: string }).value === "good" ? deny(finding) : allow),
      },
    ],
    judged: ["first", "good"],
    code: "no",
  },
  {
    name: "hooks that disagree",
    hooks: [wanting("good"), wanting("better")],
    judged: ["first"],
    code: "hook_denied",
  },
  { name: "hooks that agree", hooks: [wanting("good"), wanting("good")], judged: ["first", "good"], code: undefined },
  {
    name: "its question stands",
    hooks: [wanting("good", ask(finding))],
    judged: ["first", "good"],
    code: "nobody_to_ask",
  },
  {
    name: "that the tool does not take",
    hooks: [{ ...wanting("x"), decide: () => ({ ...allow, wanted: { no: 1 } }) }],
    judged: ["first"],
    code: "bad_arguments",
  },
])("arguments that a user's hook wants: $name", async ({ hooks, judged, code }) => {
  const seen: unknown[] = [];
  const { run, steps, decisions } = gateWith({
    policies: [judging("bad", seen), ...hooks],
    answer: { type: "nobody" },
  });
  const [result] = await run("Change", { value: "first" });
  expect(seen).toEqual(judged);
  expect(result?.error?.code).toBe(code);
  expect(steps.includes("execute Change")).toBe(code === undefined);
  if (code !== undefined) return;
  expect(result?.output).toMatch(/good$/);
  expect(decisions[0]).toMatchObject({ input: '{"value":"good"}', asCalled: 'Change {"value":"first"}' });
});
