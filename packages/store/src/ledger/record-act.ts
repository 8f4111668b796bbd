import { existsSync } from "node:fs";
import { join } from "node:path";
import { PersonsLedger, type PersonsLedgerOptions } from "./persons-ledger.ts";

/** What a person decided about how a workspace is governed, by the names in `actWords`, e.g. `{intents_mode: "off", …}`. */
export type GoverningAct = Readonly<Record<string, string | readonly string[]>>;

/**
 * Records such an act in the workspace's ledger, to be called before it holds. Rejects with `StoreError` where nothing can be
 * recorded: then it must not hold. Where nothing is recorded at all, see `isRecorded`, it does nothing.
 */
export async function recordAct(act: GoverningAct, options: PersonsLedgerOptions): Promise<void> {
  if (!isRecorded(options.workspaceRoot)) return;
  await using ledger = await PersonsLedger.open(options);
  await ledger.record("session", act);
}

/** Not in whatever directory somebody happens to stand: only where there is a ledger, or a repository. */
export function isRecorded(workspaceRoot: string): boolean {
  return [".orchestration", ".git"].some((name) => existsSync(join(workspaceRoot, name)));
}
