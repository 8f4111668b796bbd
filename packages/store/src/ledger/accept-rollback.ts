import { randomUUID } from "node:crypto";
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { ifMissing } from "@gennai/machine/system-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { storeMarkFile } from "../database/store-mark.ts";
import { headDirectory } from "./ledger-head-file.ts";
import { openLedgerStore } from "./open-ledgers.ts";
import { lostHeadFile, rollbackEntry } from "./rollback-record.ts";
import type { StepBack } from "./step-back.ts";

export interface AcceptedRollback {
  /** Empty if the store is not behind what was signed; then nothing was done. */
  readonly stepBacks: readonly StepBack[];
  /** Directory of the earlier heads and mark. */
  readonly kept: string;
  /** Ledgers that could not be mirrored; the next server that works there mirrors them. */
  readonly warnings: readonly string[];
}

/**
 * Continues from what the store holds, after a person decided that the missing part is lost: each ledger that went back, or may
 * have, gets a record of kind `rollback` with both positions and the head that was signed. Keeps old heads, mark and files. A
 * ledger that was lost completely gets its record when its workspace is used again. Rejects with `StoreError`.
 */
export async function acceptRollback(request: {
  readonly stateDir: string;
  readonly toolVersion?: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}): Promise<AcceptedRollback> {
  const { toolVersion, now } = request;
  const warnings: string[] = [];
  await using ledgers = await openLedgerStore(request.stateDir, {
    toolVersion,
    onWarning: (text) => warnings.push(text),
  });
  const { stateDir, database, table, mirror, watch } = ledgers;
  const { stepBacks } = watch;
  const kept = join(headDirectory(stateDir), "kept");
  if (stepBacks.length === 0) return { stepBacks, kept, warnings };
  warnings.length = 0;

  await mkdir(kept, { recursive: true, mode: 0o700 });
  const accepted = { by: userInfo().username, time: now() };
  const keptName = (name: string): string => join(kept, `${name}-${accepted.time}-${randomUUID().slice(0, 8)}.json`);
  await copyFile(storeMarkFile(stateDir), keptName("store-mark")).catch(ifMissing(undefined));
  const store = stepBacks.find(({ workspaceId }) => workspaceId === "");
  // If the whole store went back, each ledger may have lost something.
  const concerned = table.newestOfAll().flatMap(({ root, seq }) => {
    const own = stepBacks.find(({ workspaceRoot }) => workspaceRoot === root);
    if (own === undefined && store === undefined) return [];
    return [{ root, step: own ?? { from: seq, to: seq, head: undefined } }];
  });
  watch.accept();
  database.transaction({ durable: true }, () => {
    for (const { root, step } of concerned) {
      table.append(table.workspace(root), [rollbackEntry(step, { ...accepted, store })]);
    }
  });
  for (const { workspaceId, workspaceRoot } of stepBacks) {
    if (workspaceId === "") continue;
    const head = join(headDirectory(stateDir), `${workspaceId}.json`);
    await copyFile(head, keptName(workspaceId)).catch(ifMissing(undefined));
    if (workspaceRoot !== undefined) {
      await rm(head, { force: true });
      continue;
    }
    const lost = lostHeadFile(stateDir, workspaceId);
    await mkdir(dirname(lost), { recursive: true, mode: 0o700 });
    await rename(head, lost);
  }
  await ledgers.beginAnew();
  for (const { root } of concerned) {
    await mirror.rebuild(root).catch((error: unknown) => {
      warnings.push(`The ledger's file in ${root} was not written: ${errorMessage(error)}`);
    });
  }
  return { stepBacks, kept, warnings };
}
