import { noteWayBack } from "@gennai/stage/commit/way-back";
import type { StageEffect } from "@gennai/stage/observe/effect";
import type { Transaction } from "@gennai/stage/transaction/transaction";
import type { FoundEdit } from "./found-edits.ts";

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
