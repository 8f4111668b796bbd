import { noteWayBack } from "../../stage/commit/way-back.ts";
import type { StageEffect } from "../../stage/observe/effect.ts";
import type { Transaction } from "../../stage/transaction/transaction.ts";
import type { FoundEdit } from "../found/found-edits.ts";

/**
 * Has the commit that follows keep its earlier files, if a person takes it back by its title, or a session's change set has no
 * copies of them.
 */
export function keepWayBack(
  transaction: Transaction,
  kept: readonly StageEffect[],
  edits: readonly FoundEdit[],
  about: {
    readonly workspace: string;
    readonly session?: string | undefined;
    readonly title?: string | undefined;
    readonly record?: unknown;
  },
): void {
  const isNeeded = about.session !== undefined && edits.some(({ isKeptByCommit }) => isKeptByCommit);
  if (about.title === undefined && !isNeeded) return;
  noteWayBack(transaction, { ...about, keptAt: Date.now() }, kept);
}
