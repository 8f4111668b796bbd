import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionLog } from "@gennai/store/log/session-log";
import { parseLogAddress } from "@gennai/store/nats/log-address";
import { type NatsStore, openNatsStore } from "@gennai/store/nats/open-nats-store";
import { afterAll, beforeAll } from "vitest";
import { NatsCluster } from "./nats-cluster.ts";
import { sessionLogConformance } from "./session-log-conformance.ts";
import { copyLedgerKey } from "./shared-ledger-key.ts";

let cluster: NatsCluster;
let places = 0;

beforeAll(async () => {
  cluster = await NatsCluster.start(3);
});
afterAll(() => cluster[Symbol.asyncDispose]());

sessionLogConformance("NATS JetStream, three nodes", async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-log-")));
  const workspaceRoot = join(directory, "workspace");
  await mkdir(workspaceRoot);
  const address = parseLogAddress(`${cluster.address}/place${places++}`);
  const stores: NatsStore[] = [];
  return {
    workspaceRoot,
    async open(): Promise<SessionLog> {
      const stateDir = join(directory, `state${stores.length}`);
      if (stores.length > 0) await copyLedgerKey(join(directory, "state0"), stateDir);
      const store = await openNatsStore(stateDir, {
        address,
        replicaId: "",
        isAlive: async () => false,
        onWarning: () => {},
        onFailure: (error) => process.stderr.write(`${String(error)}\n`),
      });
      stores.push(store);
      return store.log;
    },
    async [Symbol.asyncDispose]() {
      for (const store of stores) {
        await store.streams.log.manager.streams.delete(store.streams.log.stream).catch(() => undefined);
        await store[Symbol.asyncDispose]();
      }
      await rm(directory, { recursive: true });
    },
  };
});
