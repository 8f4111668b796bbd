import { describe, expect, it } from "vitest";
import { allow, ask, deny } from "#verdict";
import { finding, gateWith } from "./gate-fixture.ts";

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
      ...["begin c0+c1", "end c0:ran+c1:ran", "begin c2", "end c2:ran", "begin c3", "end c3:ran", "begin c4"],
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

const leaking = { ...finding, reason: "It says secret.", hint: "Not secret." };
it.each([
  { name: "an analysis that fails", args: { value: "quotes" }, verdict: allow },
  { name: "a tool that fails", args: { value: "quotes late" }, verdict: allow },
  { name: "a policy that denies", args: {}, verdict: deny(leaking) },
  { name: "a policy that asks", args: {}, verdict: ask(leaking) },
  { name: "arguments that do not fit", args: { secret: true }, verdict: allow },
])("what a refusal or a failure quotes: $name", async ({ args, verdict }) => {
  const { run, decisions, questions } = gateWith({ verdicts: [verdict] });
  const results = await run("Change", args);
  const said = JSON.stringify({
    results: results.map(({ output, error }) => ({ output, error })),
    reasons: decisions.map(({ reason }) => reason),
  });
  expect(said).toContain("[REDACTED:test]");
  expect(said + JSON.stringify(questions)).not.toMatch(/secret(?!:)/);
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
