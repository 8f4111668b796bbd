import { fileURLToPath } from "node:url";
import type { ExecutionContext } from "@gennai/governance/tool";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { executionContext } from "@gennai/testkit/execution-context";
import { expect, onTestFinished, test, vi } from "vitest";
import { BackgroundRuns } from "#background/background-runs";
import type { AskedUser, UserAsker } from "#bridge/session-bridge";
import type { McpResult } from "#mcp/mcp-connection";
import { askedUntil, longestWait, orInBackground } from "#mcp/task-in-background";
import { bashOutputTool, stateOf } from "#tools/commands/background-tools";
import { callTool, nobody, outcomeOf, withUsersServer } from "./users-server.ts";

const server = {
  command: process.execPath,
  args: [fileURLToPath(new URL("revision-server.ts", import.meta.url)), "2026-07-28"],
};
const analysis = { statement: "", effects: [] };
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
async function longCall(runs: BackgroundRuns, user: UserAsker = nobody, name = "mcp__sdk__endless") {
  const { here, turn, outcome } = await begunCall(runs, user, name);
  const { output, facts } = await outcome;
  return { here, turn, answer: output, facts };
}

async function begunCall(runs: BackgroundRuns, user: UserAsker, name: string, more: Partial<ExecutionContext> = {}) {
  const here = await withUsersServer(server, user, {
    takeOn: async (...task) => stateOf(await runs.takeOn(...task)),
  });
  onTestFinished(() => here[Symbol.asyncDispose]());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const shown = Promise.withResolvers<string>();
  const goesOn = Promise.withResolvers<void>();
  const endless = (await here.tools()).get(name);
  const turn = new AbortController();
  const outcome = outcomeOf(
    endless,
    {},
    {
      ...more,
      signal: turn.signal,
      onOutput(text) {
        shown.resolve(text);
        if (name === "mcp__sdk__endless" || (text.startsWith("look") && text !== "look 1\n")) goesOn.resolve();
      },
    },
  );
  expect(await shown.promise).toBe("working\n");
  await goesOn.promise;
  vi.advanceTimersByTime(longestWait);
  return { here, turn, outcome };
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

test("how another's work failed is masked, as what it says is", async () => {
  const { runs, changes } = await session();
  const token = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const end = Promise.resolve({ how: `It said: ${token}` });
  await runs.takeOn("call", { toolName: "t", analysis }, () => ({
    ended: end,
    begun: Promise.resolve(),
    over: end.then(() => undefined),
    isPartial: false,
    stop: () => end,
  }));
  await expect.poll(() => changes).toHaveLength(2);
  expect(changes[1]).toMatch(/^b1 ended It said: /);
  expect(changes[1]).not.toContain(token);
  expect(JSON.stringify(runs.list())).not.toContain(token);
});

test("who answered before a task went on in the background is recorded with its call", async () => {
  const { runs } = await session();
  const { answer, facts } = await longCall(runs, anybody, "mcp__sdk__asksOn");
  expect(answer).toContain("b1 runs");
  expect(facts).toEqual([{ type: "user-asked", end: "answered", by: "ann" }]);
});

test("a task in the background asks until its turn ends; who answers is told at its end", async () => {
  const { runs } = await session();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const asked: AbortSignal[] = [];
  const user: UserAsker = {
    async askUser(_questions, { signal }) {
      asked.push(signal);
      if (asked.length === 1) return anybody.askUser();
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("over"))));
    },
  };
  const [over, context] = [new AbortController(), executionContext()];
  const begun = Promise.withResolvers<UserAsker>();
  const result = Promise.withResolvers<McpResult>();
  const call = orInBackground(
    ({ onTask, onAsked, user: asks }) => {
      onTask?.();
      begun.resolve({
        async askUser(...question) {
          const answer = await asks.askUser(...question);
          onAsked({ result: { action: "cancel" }, by: "", ...answer });
          return answer;
        },
      });
      return result.promise;
    },
    {
      user: askedUntil(over.signal, user),
      context,
      onAsked: () => undefined,
      takeOn: async (start) => stateOf(await runs.takeOn("call", { toolName: "t", analysis }, start)),
    },
  );
  vi.advanceTimersByTime(longestWait);
  await call;
  const server = await begun.promise;
  const ask = () => server.askUser([], { signal: context.signal });
  expect(await ask()).toMatchObject({ end: "answered", by: "ann" });
  const open = ask();
  over.abort();
  expect([await open, await ask(), asked.length]).toEqual([{ end: "nobody" }, { end: "nobody" }, 2]);
  result.resolve({ text: "", images: [], isError: false });
  vi.useRealTimers();
  await expect.poll(() => runs.list()).toMatchObject([{ end: "its result is there; ann answered a question" }]);
});

test("a large result is read piece by piece, whole, and its images are seen once", async () => {
  const { runs } = await session();
  const text = Array.from({ length: 20_000 }, (_, at) => `line ${at} 😀`).join("\n");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const result = Promise.withResolvers<McpResult>();
  const context = executionContext();
  const call = orInBackground(
    (options) => {
      options.onTask?.();
      return result.promise;
    },
    {
      user: nobody,
      context,
      onAsked: () => undefined,
      takeOn: async (start) => stateOf(await runs.takeOn("call", { toolName: "t", analysis }, start)),
    },
  );
  vi.advanceTimersByTime(longestWait);
  expect(await call).toMatchObject({ run: expect.stringContaining("b1 runs") });
  vi.useRealTimers();
  const image = { mediaType: "image/png", bytes: new Uint8Array() } as const;
  result.resolve({ text, images: [image, image], isError: false });
  await expect.poll(() => runs.list()).toMatchObject([{ state: "ended", end: "its result is there" }]);
  let [read, seen] = ["", 0];
  for (let more = 1; more > 0; ) {
    const piece = await runs.readOn("b1", { most: 30_000, waitMs: 0, signal: context.signal });
    expect(piece.leftOut).toBe(0);
    read += piece.text;
    seen += piece.images.length;
    more = piece.more;
  }
  expect([read, seen]).toEqual([text, 2]);
  const output = bashOutputTool(runs);
  expect(await output.execute({ bash_id: "b1" }, analysis, context)).toMatchObject({ truncated: false });
});

test("an agent that cannot read what runs in the background waits for its task", async () => {
  const { runs } = await session();
  const hasTool = (name: string) => name !== "BashOutput";
  const { turn, outcome } = await begunCall(runs, nobody, "mcp__sdk__endless", { hasTool });
  turn.abort(new Error("stopped"));
  await expect(outcome).rejects.toThrow("stopped");
  expect(runs.list()).toEqual([]);
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
