import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LedgerEntry, outsideTurns } from "@gennai/governance/ledger/ledger-entry";
import { headSchema, type SignedHead } from "@gennai/governance/ledger/ledger-signature";
import { hasCode } from "@gennai/machine/system-error";
import { headDirectory } from "./ledger-head-file.ts";
import type { StepBack } from "./step-back.ts";

/**
 * The ledger record about lost signed records. `store`: the former and present progress of the whole store; the loss may
 * include records of any ledger.
 */
export function rollbackEntry(
  { from, to, head }: Pick<StepBack, "from" | "to" | "head">,
  accepted: { readonly by: string; readonly time: number; readonly store?: Pick<StepBack, "from" | "to"> | undefined },
): LedgerEntry {
  const { by, time, store } = accepted;
  return {
    kind: "rollback",
    time,
    ...outsideTurns,
    details: {
      from,
      to,
      by,
      head: head === undefined ? null : { ...head },
      ...(store === undefined ? {} : { store: { from: store.from, to: store.to } }),
    },
  };
}

/** File of a ledger's head whose loss was accepted while its workspace's path was unknown. */
export function lostHeadFile(stateDir: string, workspaceId: string): string {
  return join(headDirectory(stateDir), "lost", `${workspaceId}.json`);
}

/** Blocking, because it is needed only once, when a ledger begins. */
export function readLostHead(stateDir: string, workspaceId: string): SignedHead | undefined {
  try {
    return headSchema.parse(JSON.parse(readFileSync(lostHeadFile(stateDir, workspaceId), "utf8")));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}
