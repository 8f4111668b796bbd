import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { PersonsLedger, type PersonsLedgerOptions } from "./persons-ledger.ts";

/** What a person decided about how a workspace is governed, by the names in `actWords`, e.g. `{intents_mode: "off", …}`. */
export type GoverningAct = Readonly<Record<string, string | readonly string[]>>;

/**
 * Records a person's decision in the workspace's ledger; call it before the decision takes effect. Rejects with `StoreError` if
 * it cannot be recorded: then it must not take effect. Does nothing in a directory without repository and ledger.
 */
export async function recordAct(act: GoverningAct, options: PersonsLedgerOptions): Promise<void> {
  const { workspaceRoot } = options;
  if (!existsSync(join(workspaceRoot, ".orchestration")) && !isInRepository(workspaceRoot)) return;
  await using ledger = await PersonsLedger.open(options);
  await ledger.record("session", act);
}

/** Looks upwards, because a workspace can be a part of a repository. */
function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, ".git"))) return true;
  const parent = dirname(directory);
  return parent !== directory && isInRepository(parent);
}
