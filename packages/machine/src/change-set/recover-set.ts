import { canCarryOut, carryOut, isUntried, takeBack } from "./carry-out.ts";
import { releaseLocks } from "./git-locks.ts";
import { NotCommitted } from "./not-committed.ts";
import { type ChangeSet, enterPhase, removeJournal, type WrittenJournal } from "./set-journal.ts";

/**
 * Completes or takes back what a process that died left of a set; afterwards the trees are as before or as after it, with their
 * user's later changes.
 *
 * - `removed`: it had not begun to change anything.
 * - `finished`: it had, and is complete now.
 * - `taken_back`: others were in the way, or it was being undone.
 * - `kept`: it was complete before.
 *
 * Of a set that is `finished` or `kept`, a journal stays in the phase `committed`.
 *
 * @param options.isLast it is completed also if it had not begun, because nobody would do it again
 */
export async function recoverSet(
  set: ChangeSet,
  { phase, journal }: WrittenJournal,
  { isLast = false }: { readonly isLast?: boolean } = {},
): Promise<"removed" | "finished" | "taken_back" | "kept"> {
  if (phase === "committed") {
    releaseLocks(set, journal.locks);
    return "kept";
  }
  const isBegun = isLast || phase === "undoing" || !(await isUntried(set, journal));
  if (phase === "committing" && isBegun && (await canCarryOut(set, journal)) && (await isCarriedOut(set, journal))) {
    await enterPhase(set, "committing", "committed");
    releaseLocks(set, journal.locks);
    return "finished";
  }
  await takeBack(set, journal);
  releaseLocks(set, journal.locks);
  // Before what else belongs to the set is removed: after a kill in between, no journal may say that it was begun.
  for (const each of ["committing", "undoing"] as const) await removeJournal(set, each);
  return isBegun ? "taken_back" : "removed";
}

async function isCarriedOut(...[set, journal]: Parameters<typeof carryOut>): Promise<boolean> {
  try {
    await carryOut(set, journal);
    return true;
  } catch (error) {
    if (error instanceof NotCommitted) return false;
    throw error;
  }
}
