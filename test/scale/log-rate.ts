import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import type { SessionLog } from "@gennai/store/log/session-log";
import { parseLogAddress } from "@gennai/store/nats/log-address";
import { openNatsStore } from "@gennai/store/nats/open-nats-store";
import { openStore } from "@gennai/store/sqlite/store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import type { NatsCluster } from "../conformance/session-log/nats-cluster.ts";
import { copyLedgerKey } from "../conformance/session-log/shared-ledger-key.ts";

/** What the log of many servers bears, beside that of one. */
export interface LogRate {
  readonly batches: number;
  /** Batches a second, each of one event, from as many sessions as are written to at once. */
  readonly appendsPerSecond: number;
  /** The same on SQLite, in one process. */
  readonly sqliteAppendsPerSecond: number;
  /** Batches a second that a replica takes which reads the log from its beginning. */
  readonly copiedPerSecond: number;
}

export async function measureLog(
  cluster: NatsCluster,
  options: { readonly sessions: number; readonly batches: number },
): Promise<LogRate> {
  await using directory = await temporaryDirectory();
  const workspaceRoot = directory.path("workspace");
  await mkdir(workspaceRoot);
  const open = (name: string) =>
    openNatsStore(directory.path(name), {
      address: parseLogAddress(`${cluster.address}/rate`),
      replicaId: "",
      toolVersion: "1",
      isAlive: async () => false,
      onWarning: () => undefined,
      onFailure: (error) => process.stderr.write(`${String(error)}\n`),
    });
  await using first = await open("first");
  const appendsPerSecond = await rateOf(first.log, workspaceRoot, options);
  await copyLedgerKey(directory.path("first"), directory.path("second"));
  const start = performance.now();
  await using second = await open("second");
  const copiedPerSecond = Math.round((options.batches * 1000) / (performance.now() - start));
  await expectBatches(second.log, options);
  await using alone = await openStore(directory.path("alone"), { onWarning: () => undefined });
  const sqliteAppendsPerSecond = await rateOf(alone.log, workspaceRoot, options);
  return { batches: options.batches, appendsPerSecond, sqliteAppendsPerSecond, copiedPerSecond };
}

async function rateOf(
  log: SessionLog,
  workspaceRoot: string,
  { sessions, batches }: { readonly sessions: number; readonly batches: number },
): Promise<number> {
  const ids = Array.from({ length: sessions }, (_, index) => `s${index}`);
  await Promise.all(ids.map((sessionId) => log.create({ sessionId, workspaceRoot, time: 1 })));
  const start = performance.now();
  await Promise.all(
    ids.map(async (sessionId) => {
      for (let seq = 0; seq < batches / sessions; seq++) {
        const event = { type: "text-delta" as const, text: `Some words of an answer, number ${seq}. ` };
        const events = [{ turnId: "t", itemId: "i", time: seq, event }];
        await log.append(sessionId, { events, ledger: [], durable: true }, { seq, epoch: 1 });
      }
    }),
  );
  const perSecond = Math.round((batches * 1000) / (performance.now() - start));
  await expectBatches(log, { sessions, batches });
  return perSecond;
}

/** A rate of nothing is no rate: throws unless every batch is in the log. */
async function expectBatches(log: SessionLog, { sessions, batches }: { sessions: number; batches: number }) {
  let found = 0;
  for (let index = 0; index < sessions; index += 1) found += (await log.head(`s${index}`))?.lastSeq ?? 0;
  assert.ok(found >= batches, `${batches} batches were written, ${found} are there`);
}
