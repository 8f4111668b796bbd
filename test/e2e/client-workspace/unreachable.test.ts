import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import { connectGovernance } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { defaultLimits } from "@gennai/server/admission/limits";
import { RulesService } from "@gennai/sessions/rules/rules-service";
import { DiskWorkspace } from "@gennai/shell/disk-workspace";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { type ScriptedTurn, startTestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";
import { refusalOf } from "../rpc/session-client.ts";

const turn = (...steps: ScriptedTurn["steps"]): ScriptedTurn => ({
  match: ".",
  steps: [...steps, { text: ["Done."] }],
});

/** A server, and files that only clients of the test hold. */
async function world(script: ScriptedTurn, server: TestServerOptions["server"] = {}) {
  await using parts = new AsyncDisposableStack();
  const running = parts.use(await startTestServer({ script: [script], server }));
  const state = parts.use(await temporaryDirectory());
  const files = parts.use(await temporaryRepository({ "a.txt": "a\n", "b.txt": "b\n" }));
  await files.git("checkout", "--quiet", "-b", "work");
  const disk = new DiskWorkspace({
    root: files.root,
    id: "0123456789abcdef",
    stateDir: state.root,
    ownDirectories: [state.root],
    environment: { PATH: process.env["PATH"] ?? "" },
  });
  const identity = (workspace: ClientWorkspacePort) => ({
    clientId: crypto.randomUUID(),
    name: "test",
    version: "0",
    editor: { workspace, confirm: async () => ({ answer: "yes", scope: "once" }) as const },
  });
  const leaving = new AbortController();
  const session = await AgentSession.start(
    running.client,
    identity(disk),
    {},
    { interactive: true, signal: leaving.signal },
  );
  const owned = parts.move();
  return {
    running,
    files,
    disk,
    identity,
    session,
    leaving,
    [Symbol.asyncDispose]: async () => {
      leaving.abort();
      await owned.disposeAsync();
    },
  };
}

/** The disk, with something in the way of some of what it is asked. */
function instead(disk: DiskWorkspace, more: Partial<ClientWorkspacePort>): ClientWorkspacePort {
  const methods = ["resolve", "stat", "read", "list", "find", "search", "change", "readControl", "run"] as const;
  const same = Object.fromEntries(
    methods.map((name) => [name, (disk[name] as (...args: never[]) => unknown).bind(disk)]),
  );
  return { facts: disk.facts, ...(same as unknown as Omit<ClientWorkspacePort, "facts">), ...more };
}

async function played(session: AgentSession, signal: AbortSignal): Promise<readonly InvokeEvent[]> {
  return Array.fromAsync(session.runTurn({ text: "go" }, { signal }));
}

const results = (events: readonly InvokeEvent[]) =>
  events.flatMap(({ event }) => (event.case === "toolResult" ? [event.value] : []));

test("a client that leaves in the middle of a turn leaves nothing half written, and the turn a reason", async () => {
  const edit = call("Edit", { file_path: "a.txt", old_string: "a", new_string: "A" });
  await using place = await world(turn(call("Read", { file_path: "a.txt" }), edit), {
    confirmation: { answerMs: 5_000, waitForClientMs: 500 },
  });
  const { running, disk, identity, files } = place;
  const left = new AbortController();
  const workspace = instead(disk, {
    async change(_request, { signal }) {
      // Asked, and gone before anything was done.
      left.abort();
      if (!signal.aborted) await once(signal, "abort");
      throw signal.reason;
    },
  });
  const session = await AgentSession.start(
    running.client,
    identity(workspace),
    {},
    { interactive: true, signal: left.signal },
  );
  await expect(played(session, left.signal)).rejects.toThrow();

  const watching = await AgentSession.resume(
    running.client,
    { clientId: "watcher", name: "watcher", version: "0" },
    session.sessionId,
    { signal: place.leaving.signal },
  );
  const seen: InvokeEvent[] = [];
  for await (const event of watching.follow({ afterSeq: 0n, signal: place.leaving.signal })) {
    seen.push(event);
    if (event.event.case === "toolResult" && event.event.value.error !== "") break;
  }
  expect(results(seen).at(-1)?.output).toContain('"code":"workspace_unreachable"');
  expect(await files.read("a.txt")).toBe("a\n");
  await running.client.cancelTurn({ sessionId: session.sessionId });
});

test("of two clients that hold the same files one is asked to change and to run", async () => {
  const steps = [
    call("Read", { file_path: "a.txt" }),
    call("Write", { file_path: "a.txt", content: "A\n" }),
    call("Bash", { command: "echo x >> count.txt" }),
  ];
  await using place = await world(turn(...steps));
  const { session, disk, identity, running, files, leaving } = place;
  const other = await AgentSession.resume(running.client, identity(instead(disk, {})), session.sessionId, {
    signal: leaving.signal,
  });
  const attached = Promise.withResolvers<void>();
  const following = (async () => {
    const { signal } = leaving;
    const onConnection = () => attached.resolve();
    for await (const _ of other.follow({ afterSeq: 0n, signal, onConnection }));
  })().catch(() => undefined);
  await attached.promise;
  const events = await played(session, leaving.signal);
  expect(results(events).map(({ error }) => error)).toEqual(["", "", ""]);
  expect(await files.read("count.txt")).toBe("x\n");
  expect(await files.read("a.txt")).toBe("A\n");
  leaving.abort();
  await following;
});

test("a client of other files is never asked, and one that says it holds these is not taken at its path", async () => {
  await using place = await world(turn(call("Read", { file_path: "a.txt" })), {
    confirmation: { answerMs: 1_000, waitForClientMs: 300 },
  });
  const { running, disk, identity, session, leaving } = place;
  const stranger = instead(disk, {});
  const others = { ...stranger, facts: { ...stranger.facts, id: "another-0123456789" } };
  const resumed = await AgentSession.resume(running.client, identity(others), session.sessionId, {
    signal: leaving.signal,
  });
  await expect(played(resumed, leaving.signal)).rejects.toThrow("is not attached");
});

test("rules that vanish from reach stop what was about to change, and what only reads", async () => {
  let reachable = true;
  const steps = [
    call("Read", { file_path: "a.txt" }),
    call("Read", { file_path: "b.txt" }),
    call("Write", { file_path: "b.txt", content: "B\n" }),
  ];
  await using place = await world(turn(...steps));
  const { running, disk, identity, files, leaving } = place;
  const workspace = instead(disk, {
    readControl: async (request) => {
      if (!reachable) throw new Error("The disk is gone.");
      return disk.readControl(request);
    },
    resolve: async (raw) => {
      if (raw === "b.txt") reachable = false;
      // Longer than a look at the rules is shared.
      await new Promise((resolve) => setTimeout(resolve, 400));
      return disk.resolve(raw);
    },
  });
  const session = await AgentSession.start(
    running.client,
    identity(workspace),
    {},
    { interactive: true, signal: leaving.signal },
  );
  const events = await played(session, leaving.signal);
  const told = results(events).map(({ output }) => output);
  expect(told).toHaveLength(3);
  expect(told[2]).toContain('"code":"hook_failed"');
  expect(await files.read("b.txt")).toBe("b\n");
  // Without the project's rules the model is asked nothing more either.
  expect(events.find(({ event }) => event.case === "error")?.errorInfo).toMatchObject({ code: "client_error" });
});

test("a session of files that a client holds has no directory of the server, and says what it cannot do", async () => {
  await using place = await world(turn());
  const { running, session, files } = place;
  expect(session.workingDir).toBe(files.root);
  const { sessionId } = session;
  for (const refused of [
    running.client.getWorkspaceState({ sessionId }),
    running.client.prepareBranch({ sessionId, task: "x" }),
    running.client.restoreCheckpoint({ sessionId, checkpointId: "x" }),
  ]) {
    await expect(refused).rejects.toThrow("A client holds this workspace");
  }
  const both = running.client.startSession({
    settings: { workingDir: files.root },
    clientWorkspace: { id: "0123456789abcdef", root: "/w", home: "/h" },
  });
  await expect(both).rejects.toThrow("not both");
  for (const bad of [
    { id: "short", root: "/w", home: "/h" },
    { id: "0123456789abcdef", root: "../w", home: "/h" },
    { id: "0123456789abcdef", root: "/h", home: "/h" },
    { id: "0123456789abcdef", root: "/h", home: "/h/u" },
  ]) {
    await expect(running.client.startSession({ clientWorkspace: bad })).rejects.toThrow("client_workspace");
  }
  const { checkpoints, problem } = await running.client.listCheckpoints({ sessionId });
  expect({ checkpoints, problem }).toEqual({ checkpoints: [], problem: expect.stringContaining("A client holds") });
});

test("of a server with a sandbox, such a session says that its commands run without", async () => {
  await using place = await world(turn(), { commands: "staged" });
  const { url, token } = place.running;
  const governance = connectGovernance({ baseUrl: url, token });
  await played(place.session, place.leaving.signal);
  const { sessionId } = place.session;
  expect((await governance.getGovernanceStatus({ sessionId })).isolation).toBe("unsandboxed");
  expect((await governance.getGovernanceStatus({})).isolation).toBe("sandboxed");
});

/** What a call came to; fails when it came to nothing in a time in which nobody waits for a client any more. */
async function soon<Result>(call: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, 10_000, new Error("It did not end."));
  return Promise.race([call, promise]).finally(() => clearTimeout(timer));
}

test.each(["CancelTurn", "Stop", "SetEmergencyControl"] as const)(
  "a turn that waits for its files before it begins is stopped at once by %s",
  async (name) => {
    await using place = await world(turn(call("Read", { file_path: "a.txt" })));
    const { sessionId } = place.session;
    const { client, url, token } = place.running;
    const starting = client.startTurn({ sessionId, userInput: "go", clientTurnId: "waits" });
    const refusal = refusalOf(starting);
    const queued = refusalOf(client.startTurn({ sessionId, userInput: "go", clientTurnId: "waits-behind-it" }));
    await delay(500);
    if (name === "CancelTurn")
      expect(await soon(client.cancelTurn({ sessionId }))).toMatchObject({ wasRunning: false });
    else if (name === "Stop")
      expect(await soon(client.stop({ scope: StopScope.SERVER }))).toMatchObject({ turnIds: [] });
    else {
      const stopAll = { control: EmergencyControl.STOP_ALL, enabled: true, by: "a test", reason: "a test" };
      expect(await soon(connectGovernance({ baseUrl: url, token }).setEmergencyControl(stopAll))).toMatchObject({
        state: { stopAll: true },
      });
    }
    expect(await soon(refusal)).toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("stopped before it began"),
    });
    expect(await soon(queued)).toMatchObject({
      code: "failed_precondition",
      message: expect.stringContaining("stopped before it began"),
    });
  },
);

test("a turn whose client left while the model spoke is stopped at once", async () => {
  const script = {
    match: ".",
    steps: [{ text: ["Well."] }, { delay_ms: 1_500 }, call("Read", { file_path: "a.txt" }), { text: ["Done."] }],
  };
  await using place = await world(script);
  const { session, running } = place;
  const left = new AbortController();
  for await (const { event } of session.runTurn({ text: "go" }, { signal: left.signal })) {
    if (event.case === "assistantDelta") break;
  }
  left.abort();
  await delay(3_000);
  const { sessionId } = session;
  expect(await soon(running.client.cancelTurn({ sessionId }))).toMatchObject({ wasRunning: true });
});

test("what is kept for a workspace goes when its session is closed, and comes again with it", async () => {
  vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true });
  try {
    await using place = await world(turn(call("Read", { file_path: "a.txt" })), {
      limits: { ...defaultLimits, sessions: 1 },
    });
    const { session, running } = place;
    const { stateDir } = running;
    const mirror = join(stateDir, "client-workspaces", String(process.pid), session.sessionId);
    const play = async (): Promise<void> => {
      const watching = new AbortController();
      expect(results(await played(session, watching.signal))).toHaveLength(1);
      watching.abort();
      await delay(500);
      vi.setSystemTime(Date.now() + 3_600_000);
    };
    const closed = vi.spyOn(RulesService.prototype, Symbol.asyncDispose);
    await play();
    expect(existsSync(mirror)).toBe(true);
    await running.client.startSession({});
    expect(existsSync(mirror)).toBe(false);
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
    vi.setSystemTime(Date.now() + 3_600_000);
    await play();
    expect(existsSync(mirror)).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test("what asks for files outside of a turn does not wait long for a client that is gone", async () => {
  await using place = await world(turn());
  const { session, running } = place;
  const began = performance.now();
  const state = running.client.getWorkspaceState({ sessionId: session.sessionId });
  await refusalOf(state);
  expect(performance.now() - began).toBeLessThan(9_000);
});
