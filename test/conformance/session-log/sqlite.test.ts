import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SessionLog } from "@gennai/store/log/session-log";
import { openStore, type Store } from "@gennai/store/sqlite/store";
import { sessionLogConformance } from "./session-log-conformance.ts";

sessionLogConformance("SQLite", async () => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-log-")));
  const workspaceRoot = join(directory, "workspace");
  await mkdir(workspaceRoot);
  const stores: Store[] = [];
  return {
    workspaceRoot,
    async open(): Promise<SessionLog> {
      const store = await openStore(join(directory, "state"), { onWarning: () => {} });
      stores.push(store);
      return store.log;
    },
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await rm(directory, { recursive: true });
    },
  };
});
