import * as z from "zod";
import type { StoreDatabase } from "../database/database.ts";
import { textOf } from "../database/row.ts";
import { isSignedHere } from "../ledger/ledger-key.ts";
import { forgetNotes } from "./forget-notes.ts";

const purgedSchema = z.object({ id: z.string(), metadata: z.object({ purged: z.literal(true) }) });

/**
 * Takes what reports purged writes from the git notes of a workspace, whenever they were purged. Rejects with `StoreError` as git
 * refuses. @param of.workspace its number @returns how many notes changed
 */
export async function forgetPurgedNotes(
  { database, stateDir }: { readonly database: StoreDatabase; readonly stateDir: string },
  of: { readonly workspace: number; readonly workspaceRoot: string },
): Promise<number> {
  const ids = new Set<string>();
  // The records themselves stay in the chain, and only they have the ids that notes name.
  const rows = database.prepare("SELECT line FROM ledger WHERE workspace = ?").iterate(of.workspace);
  for (const row of rows) {
    const line = textOf(row, "line");
    if (!line.includes('"purged":true')) continue;
    const { data } = purgedSchema.safeParse(JSON.parse(line));
    if (data !== undefined) ids.add(data.id);
  }
  if (ids.size === 0) return 0;
  // Also the keys that signed before the one of today.
  return forgetNotes(of.workspaceRoot, { ids, isOurs: isSignedHere(stateDir) });
}
