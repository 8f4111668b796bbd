import { mkdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { readLedgerRecords } from "@gennai/store/audit/ledger-records";
import { AppendConflict, type LogBatch } from "@gennai/store/log/session-log";
import { isDistrusted, removeDistrusted } from "@gennai/store/nats/copy-trust";
import { parseLogAddress } from "@gennai/store/nats/log-address";
import { type NatsStore, openNatsStore } from "@gennai/store/nats/open-nats-store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { plainEntry } from "../../../packages/governance/test/ledger/plain-entry.ts";
import { NatsCluster } from "./nats-cluster.ts";
import { copyLedgerKey } from "./shared-ledger-key.ts";

let cluster: NatsCluster;
let place: Awaited<ReturnType<typeof temporaryDirectory>>;
let root: string;
const stores: NatsStore[] = [];
const gone = new Set<string>();

beforeAll(async () => {
  cluster = await NatsCluster.start(3);
  place = await temporaryDirectory();
  root = place.path("workspace");
  await mkdir(root);
  for (const replicaId of ["r0", "r1"]) {
    const stateDir = place.path(replicaId);
    if (replicaId !== "r0") await copyLedgerKey(place.path("r0"), stateDir);
    stores.push(
      await openNatsStore(stateDir, {
        address: parseLogAddress(cluster.address),
        replicaId,
        toolVersion: "1",
        isAlive: async (_streams, other) => !gone.has(other),
        onWarning: () => undefined,
        onFailure: (error) => process.stderr.write(`${String(error)}\n`),
      }),
    );
  }
});
afterAll(async () => {
  for (const store of stores) await store[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

let [first, second]: NatsStore[] = [];
beforeEach(() => {
  [first, second] = stores;
});

function both(): readonly [NatsStore, NatsStore] {
  if (first === undefined || second === undefined) throw new TypeError("The stores are not open.");
  return [first, second];
}

function batch(text: string, more: Partial<LogBatch> = {}): LogBatch {
  const events = [{ turnId: "t", itemId: "", time: 1, event: { type: "text-delta" as const, text } }];
  return { events, ledger: [], durable: true, ...more };
}

async function create(sessionId: string): Promise<void> {
  await both()[0].log.create({ sessionId, workspaceRoot: root, time: 1 });
}

it("goes on over the loss of the stream's leader, without a gap", async () => {
  const [one, other] = both();
  await create("leader");
  const leader = await cluster.leaderOf(one.streams.log.stream);
  const killing = delay(100).then(() => cluster.killNode(leader));
  for (let seq = 0; seq < 300; seq++) await one.log.append("leader", batch(String(seq)), { seq, epoch: 1 });
  await killing;
  await cluster.startNode(leader);
  const seen = (await other.log.read("leader", 0, 1000)).map(({ event }) => event);
  expect(seen).toEqual(Array.from({ length: 300 }, (_, seq) => ({ type: "text-delta", text: String(seq) })));
});

it("an approval is spent once, no matter which replica and session spend it", async () => {
  const [one, other] = both();
  await create("spends");
  await other.log.create({ sessionId: "spends-too", workspaceRoot: root, time: 1 });
  const spend = batch("x", { spentTokens: ["a".repeat(64)] });
  const tries = await Promise.allSettled([
    one.log.append("spends", spend, { seq: 0, epoch: 1 }),
    other.log.append("spends-too", spend, { seq: 0, epoch: 1 }),
  ]);
  expect(tries.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

it("only the owner appends; another one takes over when the owner is gone, and not before", async () => {
  const [one, other] = both();
  await create("owned");
  await expect(other.log.append("owned", batch("x"), { seq: 0, epoch: 1 })).rejects.toBeInstanceOf(AppendConflict);
  await expect(other.log.takeOver("owned")).rejects.toBeInstanceOf(AppendConflict);
  gone.add("r0");
  expect(await other.log.takeOver("owned")).toBe(2);
  gone.clear();
  await expect(one.log.append("owned", batch("x"), { seq: 0, epoch: 1 })).rejects.toBeInstanceOf(AppendConflict);
  await other.log.append("owned", batch("x"), { seq: 0, epoch: 2 });
});

it("a batch that is too large for a message goes all the same", async () => {
  const [one, other] = both();
  await create("large");
  const text = "large ".repeat(400_000);
  await one.log.append("large", batch(text), { seq: 0, epoch: 1 });
  expect((await other.log.read("large", 0, 1)).map(({ event }) => event)).toEqual([{ type: "text-delta", text }]);
});

it("all replicas seal the same ledger from batches that came at once", async () => {
  const [one, other] = both();
  await create("ledger");
  await other.log.create({ sessionId: "ledger-too", workspaceRoot: root, time: 1 });
  const entry = (sessionId: string) => plainEntry({ sessionId });
  await Promise.all(
    [one, other].map(async ({ log }, index) => {
      const sessionId = index === 0 ? "ledger" : "ledger-too";
      for (let seq = 0; seq < 20; seq++)
        await log.append(sessionId, batch("x", { ledger: [entry(sessionId)] }), { seq, epoch: 1 });
    }),
  );
  await Promise.all([one.log.head("ledger"), other.log.head("ledger")]);
  const records = [one, other].map(({ stateDir }) => readLedgerRecords(stateDir, root, 0, 100));
  expect(records[0]).toHaveLength(40);
  expect(records[1]).toEqual(records[0]);
});

it("makes a copy anew that holds an acknowledged message which NATS lost, when another took its place", async () => {
  const failures: string[] = [];
  const open = async (stateDir: string): Promise<NatsStore> => {
    const store = await openNatsStore(stateDir, {
      address: parseLogAddress(`${cluster.address}/losing`),
      replicaId: "",
      toolVersion: "1",
      isAlive: async () => false,
      onWarning: () => undefined,
      onFailure: (error) =>
        failures.push(`${stateDir === place.path("reader") ? "reader" : "other"}: ${String(error)}`),
    });
    return store;
  };
  let reader = await open(place.path("reader"));
  await copyLedgerKey(place.path("reader"), place.path("other"));
  await reader.log.create({ sessionId: "s", workspaceRoot: root, time: 1 });
  await reader.log.append("s", batch("lost"), { seq: 0, epoch: 1 });
  await reader.log.create({ sessionId: "later", workspaceRoot: root, time: 1 });
  const { manager, stream } = reader.streams.log;
  const lost = await manager.streams.getMessage(stream, { last_by_subj: "losing.sess.s.1" });
  await manager.streams.deleteMessage(stream, lost?.seq ?? 0);
  // Anyone who comes now never saw it, and writes in its place; the reader still believes in what it read, and writes on.
  const other = await open(place.path("other"));
  stores.push(other);
  await other.log.append("s", batch("in its place"), { seq: 0, epoch: 1 });
  await reader.log.append("s", batch("after what was lost"), { seq: 1, epoch: 1 });
  await other.log.append("s", batch("goes on"), { seq: 1, epoch: 1 });
  expect((await other.log.read("s", 0, 10)).map(({ event }) => event)).toEqual(
    ["in its place", "goes on"].map((text) => ({ type: "text-delta", text })),
  );
  await expect(reader.log.read("s", 0, 10)).rejects.toMatchObject({ code: "corrupt" });
  expect(failures).toEqual([expect.stringMatching(/^reader: .*it is made anew/)]);
  expect([reader.follower.isCurrent, isDistrusted(reader.stateDir)]).toEqual([false, true]);
  await reader[Symbol.asyncDispose]();
  await removeDistrusted(place.path("reader"));
  reader = await open(place.path("reader"));
  stores.push(reader);
  expect(await reader.log.read("s", 0, 10)).toEqual(await other.log.read("s", 0, 10));
  expect(isDistrusted(reader.stateDir)).toBe(false);
});
