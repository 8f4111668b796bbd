import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { sha256Hex } from "@gennai/protocol/digest";
import { FileSource, StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { type InvokeEvent, RequestResolution } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ConfirmationRequest, EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { call } from "@gennai/testkit/scripted-steps";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFailed, test } from "vitest";
import { sampleOf, seed } from "../../../scripts/lib/tests/sample.mjs";
import { eventsOf, lastOfGapless, yesTo } from "../rpc/session-client.ts";
import { Listener } from "./listener.ts";
import { ReplicaWorld } from "./replica-world.ts";

const replicas = 3;
const owner = 0;

/** Asks, then leaves a line behind; each name is a file of its own. */
const script = [
  { match: "^talk", steps: [{ text: ["Hello."] }] },
  { match: "^slow", steps: [{ text: { repeat: 200, chunk: "word " } }, { delay_ms: 60_000 }, { text: ["The end."] }] },
  {
    match: "^ask (one|two|three|four|five)$",
    steps: [
      { text: ["I ask."] },
      call("Bash", { command: "echo ran >> ran.txt", description: "leaves a line" }),
      { text: ["Done."] },
    ],
  },
  { match: "^claim", steps: [call("Write", { file_path: "claimed.txt", content: "claimed\n" }), { text: ["Done."] }] },
  { match: "^read", steps: [call("Read", { file_path: "README.md" }), { text: ["Read."] }] },
  {
    match: "^work",
    steps: [
      ...Array.from({ length: 12 }, (_, index) => [
        { text: { repeat: 20, chunk: `${index} ` } },
        { delay_ms: 300 },
        call("Write", { file_path: `made-${index}.txt`, content: `${index}\n` }),
      ]).flat(),
      { text: ["Done."] },
    ],
  },
];

let world: ReplicaWorld;
let turns = 0;

const scenes: Readonly<Record<string, () => Promise<void>>> = {
  "any replica takes any request: a turn is started at one, followed at another, and answered at a third": async () => {
    onTestFailed(() => void process.stderr.write(world.output));
    const sessionId = await newSession();
    await using listener = new Listener(world, sessionId, { at: 2, replicas });
    const before = linesOf("ran.txt");
    const turnId = await startTurn(1, sessionId, "ask one");
    const asked = await listener.until("the question", question);
    expect(asked.actionStatement).toContain("echo ran");
    await sayYes(1, sessionId, asked);
    expect(await listener.end(turnId)).toBe("COMPLETED");
    expect(linesOf("ran.txt")).toBe(before + 1);
    lastOfGapless(listener.events, 0n);
    const resumed = await Promise.all([0, 1, 2].map((at) => world.client(at).resumeSession({ sessionId })));
    expect(new Set(resumed.map(({ session }) => session?.lastSeq)).size).toBe(1);
  },
  "any replica takes any request: Invoke works at a server that does not own the session": async () => {
    const sessionId = await newSession();
    const events = await Array.fromAsync(world.client(1).invoke({ sessionId, userInput: "talk" }));
    expect(eventsOf(events, "status").length).toBeGreaterThan(0);
    lastOfGapless(events.filter(({ seq }) => seq > 0n));
  },
  "any replica takes any request: CancelTurn and Stop take effect on the owner": async () => {
    const sessionId = await newSession();
    await using listener = new Listener(world, sessionId, { at: 1, replicas });
    const first = await startTurn(2, sessionId, "slow");
    await listener.until("text", (events) => eventsOf(events, "assistantDelta")[0]);
    expect(await world.client(1).cancelTurn({ sessionId, turnId: first })).toMatchObject({ wasRunning: true });
    expect(await listener.end(first)).toBe("CANCELLED");
    const second = await startTurn(1, sessionId, "slow");
    expect(await world.client(2).stop({ scope: StopScope.SERVER })).toMatchObject({ turnIds: [second] });
    expect(await listener.end(second)).toBe("CANCELLED");
  },
  "one writer per working tree: holds between servers: the second waits until the first one's turn is over":
    async () => {
      const first = await newSession();
      const { sessionId: second } = await world.client(1).startSession({ interactive: true });
      await using working = new Listener(world, first, { at: 0, replicas });
      await using waiting = new Listener(world, second, { at: 1, replicas });
      const work = await startTurn(0, first, "work");
      await working.until("a file", (events) => eventsOf(events, "toolResult")[0]);
      const claim = await startTurn(1, second, "claim");
      await waiting.until("the word that it waits", (events) =>
        eventsOf(events, "warning").find((text) => text.includes("The working tree is in use by")),
      );
      expect(linesOf("claimed.txt")).toBe(0);
      await world.client(2).cancelTurn({ sessionId: first, turnId: work });
      expect(await waiting.end(claim)).toBe("COMPLETED");
      expect(linesOf("claimed.txt")).toBe(1);
      for (let index = 0; index < 12; index++) rmSync(world.workspace.path(`made-${index}.txt`), { force: true });
    },
  "emergency controls: switched at any server, they take effect at all of them": async () => {
    const sessionId = await newSession();
    await using listener = new Listener(world, sessionId, { at: 1, replicas });
    const turnId = await startTurn(1, sessionId, "slow");
    await listener.until("text", (events) => eventsOf(events, "assistantDelta")[0]);
    const change = { control: EmergencyControl.STOP_ALL, by: "test", reason: "a test" };
    await world.governance(2).setEmergencyControl({ ...change, enabled: true });
    expect(await listener.end(turnId)).toBe("CANCELLED");
    await expect(startTurn(0, sessionId, "talk")).rejects.toThrow("stopped");
    await world.governance(1).setEmergencyControl({ ...change, enabled: false });
    for (let index = 0; index < replicas; index++) {
      const { emergency } = await world.governance(index).getGovernanceStatus({ sessionId });
      expect(emergency?.stopAll).toBe(false);
    }
    expect(await listener.end(await startTurn(0, sessionId, "talk"))).toBe("COMPLETED");
  },
  "killed in the middle: the replica that a client listens at: it goes on elsewhere, and finds the question again":
    async () => {
      const sessionId = await newSession();
      await using listener = new Listener(world, sessionId, { at: 1, replicas });
      const before = linesOf("ran.txt");
      const turnId = await startTurn(1, sessionId, "ask two");
      const asked = await listener.until("the question", question);
      await world.killReplica(1);
      await using elsewhere = new Listener(world, sessionId, { at: 2, replicas });
      const again = await elsewhere.until("the question", question);
      expect(again).toMatchObject({ requestId: asked.requestId, actionSha256: asked.actionSha256 });
      await sayYes(2, sessionId, again);
      expect(await listener.end(turnId)).toBe("COMPLETED");
      expect(linesOf("ran.txt")).toBe(before + 1);
      lastOfGapless(listener.events, 0n);
    },
  "killed in the middle: either, while the editor is asked for a file: a lost owner ends the turn, a lost listener changes nothing":
    async () => {
      const sessionId = await newSession();
      await using listener = new Listener(world, sessionId, { at: 1, replicas });
      await listener.until("its beginning", (events) => events[0]);
      const first = await startTurn(2, sessionId, "read");
      const content = "# Buffer\n";
      const request = (skipped: number) =>
        listener.until("the request", (events) => eventsOf(events, "requestFileRead")[skipped]);
      const asked = await request(0);
      await world.killReplica(1);
      await world.client(2).submitClientEvent({
        sessionId,
        clientId: "window-1",
        ownerEpoch: asked.ownerEpoch,
        event: {
          case: "fileReadResponse",
          value: {
            requestId: asked.requestId,
            path: asked.path,
            content,
            sha256: sha256Hex(content),
            source: FileSource.BUFFER,
            version: 3n,
            dirty: true,
            totalLines: 1,
          },
        },
      });
      expect(await listener.end(first)).toBe("COMPLETED");
      expect(eventsOf(listener.events, "toolResult")[0]?.output).toContain("Buffer");

      await startTurn(2, sessionId, "read");
      const again = await request(1);
      await world.killReplica(owner);
      const cut = listener.events.find(
        (event) => event.event.case === "requestFileRead" && event.event.value === again,
      );
      expect(await listener.end(cut?.turnId ?? "")).toBe("INTERRUPTED");
      lastOfGapless(listener.events, 0n);
    },
  "killed in the middle: the owner, while it asks: the turn ends interrupted at another one, and the session goes on there":
    async () => {
      const sessionId = await newSession();
      await using listener = new Listener(world, sessionId, { at: 2, replicas });
      const before = linesOf("ran.txt");
      const turnId = await startTurn(2, sessionId, "ask three");
      const asked = await listener.until("the question", question);
      await world.killReplica(owner);
      expect(await listener.end(turnId)).toBe("INTERRUPTED");
      expect(linesOf("ran.txt")).toBe(before);
      expect(eventsOf(listener.events, "clientRequestResolved").at(-1)).toMatchObject({
        requestId: asked.requestId,
        resolution: RequestResolution.CANCELLED,
      });
      await expect(sayYes(2, sessionId, asked)).rejects.toThrow("over");

      const next = await startTurn(1, sessionId, "ask four");
      const other = await listener.until("another question", (events) => {
        const found = question(events);
        return found?.requestId === asked.requestId ? undefined : found;
      });
      expect(other.ownerEpoch).toBeGreaterThan(asked.ownerEpoch);
      await sayYes(1, sessionId, other);
      expect(await listener.end(next)).toBe("COMPLETED");
      expect(linesOf("ran.txt")).toBe(before + 1);
      lastOfGapless(listener.events, 0n);
    },
  "killed in the middle: the owner, while it writes files: each was written at most once, and the log reports it":
    async () => {
      const sessionId = await newSession();
      await using listener = new Listener(world, sessionId, { at: 1, replicas });
      const turnId = await startTurn(1, sessionId, "work");
      await listener.until("three files", (events) => (eventsOf(events, "toolResult").length >= 3 ? true : undefined));
      await world.killReplica(owner);
      expect(await listener.end(turnId)).toBe("INTERRUPTED");
      const told = eventsOf(listener.events, "toolResult").length;
      const made = Array.from({ length: 12 }, (_, index) => linesOf(`made-${index}.txt`));
      // What was under way at the kill may or may not be there; the log says that it is not known.
      expect(made.slice(0, told)).toEqual(made.slice(0, told).map(() => 1));
      expect(made.slice(told + 1).every((lines) => lines === 0)).toBe(true);
      expect(eventsOf(listener.events, "error").at(-1)).toContain("may or may not have taken effect");
      lastOfGapless(listener.events, 0n);
    },
  "killed in the middle: a NATS node, the leader of the log: the turn goes on": async () => {
    const sessionId = await newSession();
    await using listener = new Listener(world, sessionId, { at: 2, replicas });
    const turnId = await startTurn(1, sessionId, "ask five");
    const asked = await listener.until("the question", question);
    const leader = await world.cluster.leaderOf("gennai_log");
    expect(leader).not.toBe(-1);
    await world.cluster.killNode(leader);
    const before = linesOf("ran.txt");
    await sayYes(1, sessionId, asked);
    expect(await listener.end(turnId)).toBe("COMPLETED");
    expect(linesOf("ran.txt")).toBe(before + 1);
    lastOfGapless(listener.events, 0n);
  },
  "killed in the middle: a replica whose copy lacks messages makes it anew when it starts": async () => {
    const sessionId = await newSession();
    await using listener = new Listener(world, sessionId, { at: 0, replicas });
    expect(await listener.end(await startTurn(owner, sessionId, "talk"))).toBe("COMPLETED");
    const at = [0, 1, 2].find((index) => index !== owner) ?? 0;
    await world.killReplica(at);
    const database = new DatabaseSync(join(world.stateDir(at), "gennai.db"));
    database.prepare("UPDATE log_copy_sessions SET number = number - 1 WHERE session = ?").run(sessionId);
    database.close();
    await world.client(owner).renameSession({ sessionId, title: "Later" });
    await world.startReplica(at);
    expect((await world.client(at).resumeSession({ sessionId })).session?.title).toBe("Later");
  },
};

async function expectSameLedgers(): Promise<void> {
  const verify = () =>
    Promise.all(
      Array.from({ length: replicas }, (_, index) =>
        verifyWorkspaceLedger({ workspaceRoot: world.workspace.root, stateDir: world.stateDir(index) }),
      ),
    );
  // A replica that was killed has the rest of the log to read.
  for (let look = 0; look < 100 && (await verify()).some(({ status }) => status !== "ok"); look++) await delay(200);
  for (let index = 0; index < replicas; index++) await world.killReplica(index, "SIGTERM");
  const reports = await verify();
  expect(reports.map(({ status, message, records }) => ({ status, message, records }))).toEqual(
    reports.map(({ records }) => ({ status: "ok", message: expect.anything(), records })),
  );
  expect(new Set(reports.map(({ records }) => records)).size).toBe(1);
}

async function everythingRuns(): Promise<void> {
  for (let index = 0; index < 3; index++) await world.cluster.startNode(index);
  for (let index = 0; index < replicas; index++) await world.startReplica(index);
}

async function newSession(): Promise<string> {
  return (await world.client(owner).startSession({ interactive: true })).sessionId;
}

async function startTurn(at: number, sessionId: string, userInput: string): Promise<string> {
  return (await world.client(at).startTurn({ sessionId, userInput, clientTurnId: `turn-${turns++}` })).turnId;
}

function question(events: readonly InvokeEvent[]): ConfirmationRequest | undefined {
  return eventsOf(events, "confirmationRequest").at(-1);
}

async function sayYes(at: number, sessionId: string, asked: ConfirmationRequest): Promise<void> {
  await world.client(at).submitClientEvent({
    sessionId,
    clientId: "window-1",
    ownerEpoch: asked.ownerEpoch,
    event: yesTo(asked),
  });
}

function linesOf(name: string): number {
  const path = world.workspace.path(name);
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").length - 1 : 0;
}

describe(`replicas (seed ${seed})`, () => {
  beforeAll(async () => {
    world = await ReplicaWorld.start({ replicas, nodes: 3, script });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });
  // A test that failed must not take the next ones with it.
  afterEach(everythingRuns);

  test.each(sampleOf(Object.entries(scenes), 2))("%s", (_name, scene) => scene());
  test("in the end every replica has the same ledger, and it verifies", expectSameLedgers);
});
