import { fileURLToPath } from "node:url";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { expect, onTestFinished, test, vi } from "vitest";
import { BackgroundRuns } from "#background/background-runs";
import type { AskedUser } from "#bridge/session-bridge";
import { longestWait } from "#mcp/task-in-background";
import { stateOf } from "#tools/commands/bash-output-tool";
import { callTool, nobody, outcomeOf, withUsersServer } from "./users-server.ts";

const server = {
  command: process.execPath,
  args: [fileURLToPath(new URL("revision-server.ts", import.meta.url)), "2026-07-28"],
};
const anybody = { askUser: async (): Promise<AskedUser> => ({ end: "answered", by: "ann", answers: [] }) };

async function session() {
  const changes: string[] = [];
  const state = { readOnly: false, disableHighImpact: false, stopAll: false, blockedTools: [] as string[] };
  const changed = new Set<() => void>();
  const runs = new BackgroundRuns({
    redactor: await createRedactor(),
    now: Date.now,
    startedBefore: () => 0,
    record: async ({ run, what }) => void changes.push(`${run.id} ${what} ${run.end ?? run.command}`),
    onUnexpectedError: (error) => {
      throw error;
    },
    emergency: {
      current: () => state,
      standingCheck: {
        check: () => ({ type: "allow" }),
        onChange(listener) {
          changed.add(listener);
          return { [Symbol.dispose]: () => void changed.delete(listener) };
        },
      },
    },
  });
  onTestFinished(() => runs[Symbol.asyncDispose]());
  const forbid = (name: string): void => {
    state.blockedTools = [name];
    for (const heard of changed) heard();
  };
  return { runs, changes, forbid };
}

/** Calls a task that does not end, and lets the time pass that its caller waits. */
async function longCall(runs: BackgroundRuns, user = nobody) {
  const here = await withUsersServer(server, user, {
    takeOn: async (...task) => stateOf(await runs.takeOn(...task)),
  });
  onTestFinished(() => here[Symbol.asyncDispose]());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const shown = Promise.withResolvers<string>();
  const endless = (await here.tools()).get("mcp__sdk__endless");
  const turn = new AbortController();
  const answer = callTool(endless, {}, { signal: turn.signal, onOutput: shown.resolve });
  expect(await shown.promise).toBe("working\n");
  vi.advanceTimersByTime(longestWait);
  return { here, turn, answer: await answer };
}

test("a call that its server makes a task of gives the task's result, and shows how far it is", async () => {
  await using here = await withUsersServer(server, anybody);
  const tools = await here.tools();
  const shown: string[] = [];
  expect(await callTool(tools.get("mcp__sdk__task"), {}, { onOutput: (text) => void shown.push(text) })).toBe(
    "task is done",
  );
  expect(shown).toEqual(["working\n", "look 1\n"]);
  await expect(callTool(tools.get("mcp__sdk__fails"), {})).rejects.toThrow(
    "did not answer the call of fails: out of paper",
  );
  // What a task wants to know is asked once, as a question of its server's.
  const { output, facts } = await outcomeOf(tools.get("mcp__sdk__asks"), {});
  expect(output).toMatch(/^asks is done.*action/);
  expect(facts).toEqual([{ type: "user-asked", end: "answered", by: "ann" }]);
});

test("a task that takes long goes on in the background, past its turn, and is read and ended there", async () => {
  const { runs, changes } = await session();
  const { here, turn, answer } = await longCall(runs);
  expect(answer).toBe("[b1 runs, as a task of its server; BashOutput reads its result, KillShell ends it]");
  turn.abort(new Error("the turn is over"));
  const { signal } = new AbortController();
  const { text, run } = await runs.read("b1", 0, { most: 1_000, waitMs: 60_000, signal });
  expect([text, run.state]).toEqual([expect.stringMatching(/^look \d+\n/), "running"]);
  expect(await runs.stop("b1", "ann")).toMatchObject({ state: "ended", end: "stopped by ann" });
  // Its server is told.
  await expect
    .poll(async () => (await here.tools()).get("mcp__sdk__echo")?.description)
    .toContain("endless was stopped");
  expect(changes).toEqual(["b1 started mcp__sdk__endless {}", "b1 ended stopped by ann"]);
});

test("an emergency control that forbids the tool ends its tasks", async () => {
  const { runs, forbid } = await session();
  await longCall(runs);
  forbid("mcp__sdk__endless");
  await expect.poll(() => runs.list()).toMatchObject([{ end: "stopped by an emergency control" }]);
});

test("a task is stopped with its call, and waited for where nothing can run in the background", async () => {
  await using here = await withUsersServer(server);
  const stopping = new AbortController();
  const endless = (await here.tools()).get("mcp__sdk__endless");
  const onOutput = () => stopping.abort(new Error("stopped"));
  await expect(callTool(endless, {}, { signal: stopping.signal, onOutput })).rejects.toThrow("stopped");
  await expect
    .poll(async () => (await here.tools()).get("mcp__sdk__echo")?.description)
    .toContain("endless was stopped");
});
