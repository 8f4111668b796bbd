import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { PersonsLedger, type PersonsLedgerOptions } from "./persons-ledger.ts";

/** What a person decided about how a workspace is governed, by the names in `actWords`, e.g. `{intents_mode: "off", …}`. */
export type GoverningAct = Readonly<Record<string, string | readonly string[]>>;

/**
 * Records such an act in the workspace's ledger, to be called before it holds. Rejects with `StoreError` where nothing can be
 * recorded: then it must not hold. In a directory that is in no repository and has no ledger, it does nothing.
 */
export async function recordAct(act: GoverningAct, options: PersonsLedgerOptions): Promise<void> {
  const { workspaceRoot } = options;
  if (!existsSync(join(workspaceRoot, ".orchestration")) && !isInRepository(workspaceRoot)) return;
  await using ledger = await PersonsLedger.open(options);
  await ledger.record("session", act);
}

/** A workspace can be a part of one. */
function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, ".git"))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInRepository(parent);
}
