import { expect, test } from "vitest";
import * as z from "zod";
import { governTools } from "#gate/gate";
import { RunningCalls } from "#gate/running-calls";
import type { CallOutcome, GateJournal } from "#gate-journal";
import type { Tool } from "#tool";
import { gateWith } from "./gate-with.ts";

const turn = new AbortController();

/** Calls of one tool, which runs until its signal aborts. */
function start(callIds: readonly string[], execute: Tool["execute"]) {
  const running = new RunningCalls();
  const ended: CallOutcome[] = [];
  const journal: GateJournal = {
    decided: () => undefined,
    begin: async () => undefined,
    end: async (outcomes) => void ended.push(...outcomes.map(({ result }) => result)),
    reached: async () => undefined,
    output: () => undefined,
    warn: () => undefined,
  };
  const tool: Tool = {
    name: "Look",
    description: "",
    access: "read",
    parameters: z.strictObject({}),
    analyse: async () => ({ statement: "", effects: [] }),
    execute,
  };
  const gate = governTools(gateWith({ tools: new Map([[tool.name, tool]]), journal, policySha256: "", running }));
  const calls = callIds.map((id) => ({ id, name: tool.name, argumentsJson: "{}" }));
  return { running, ended, results: gate.run(calls, { turnId: "t", signal: turn.signal }) };
}

test("one call is stopped, the others and the turn go on", async () => {
  const started = Promise.withResolvers<void>();
  const other = Promise.withResolvers<void>();
  let count = 0;
  const { running, results, ended } = start(["one", "two"], async (_args, _analysis, { callId, signal }) => {
    if (++count === 2) started.resolve();
    if (callId === "two") await other.promise;
    else await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return { output: callId };
  });
  await started.promise;
  expect(await running.stop({ turnId: "t", callId: "one" })).toBe(true);
  other.resolve();
  const [one, two] = await results;
  expect(one?.error).toMatchObject({ code: "stopped_by_user", retryable: false });
  expect(two?.error).toBeUndefined();
  expect(ended.map(({ failureClass }) => failureClass)).toEqual(["partial_execution", undefined]);
  expect(turn.signal.aborted).toBe(false);
});

test("what a stopped command had printed is told with the stop", async () => {
  const started = Promise.withResolvers<void>();
  const { running, results } = start(["one"], async (_args, _analysis, { signal }) => {
    started.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return { output: "half", failure: { failureClass: "partial_execution", message: "It was stopped." } };
  });
  await started.promise;
  await running.stop({ turnId: "t", callId: "one" });
  expect(await results).toMatchObject([{ output: "half", error: { code: "stopped_by_user" } }]);
});

test("a call that ended all the same is told as it ended, and one that does not run is not stopped", async () => {
  const { running, results } = start(["one"], async () => ({ output: "all" }));
  expect(await running.stop({ turnId: "another", callId: "one" })).toBe(false);
  const [one] = await results;
  expect(one?.error).toBeUndefined();
  expect(await running.stop({ turnId: "t", callId: "one" })).toBe(false);
});
