import { dirname, join } from "node:path";
import { giveWay } from "../entries/give-way.ts";
import { statIfPresent } from "../entries/look-at-entry.ts";
import { hasCode } from "../system-error.ts";
import { releaseLocks } from "./git-locks.ts";
import { HeldOperation, InTheWay, oldOf, setParts } from "./held-operation.ts";
import { removeEmptyDirectories } from "./made-directories.ts";
import { makeDurable } from "./make-durable.ts";
import { NotCommitted, Unsettled } from "./not-committed.ts";
import { type ChangeSet, type Operation, removeJournal, rootOf, type SetJournal } from "./set-journal.ts";

/**
 * Completes a set, durably. If others changed something in its way, or a directory is closed, it is rolled back, the journal
 * ends, and `NotCommitted` is thrown.
 */
export async function carryOut(set: ChangeSet, journal: SetJournal): Promise<void> {
  let current: Operation | undefined;
  const forEach = async (work: (held: HeldOperation) => Promise<void>): Promise<void> => {
    for (const operation of journal.operations) {
      current = operation;
      await giveWay();
      using held = hold(set, journal, operation);
      await work(held);
    }
  };
  try {
    await forEach((held) => held.forward());
    // An editor that had a file open may have written to it meanwhile.
    await forEach((held) => held.refuseTouched());
    await syncNames(set, journal);
  } catch (error) {
    await takeBack(set, journal);
    releaseLocks(set, journal.locks);
    await removeJournal(set, "committing");
    const refusal = current === undefined ? undefined : refusalOf(error);
    if (current === undefined || refusal === undefined) throw error;
    const { code, reason } = refusal;
    throw new NotCommitted(code, [{ root: rootOf(set, current).path, path: current.path, reason }], error);
  }
}

/**
 * Restores the earlier state, durably, except where others changed something since. Throws `Unsettled` if something has no
 * place to go back to: it stays where it is.
 */
export async function takeBack(set: ChangeSet, journal: SetJournal): Promise<void> {
  const homeless: string[] = [];
  for (const operation of journal.operations.toReversed()) {
    await giveWay();
    try {
      using held = hold(set, journal, operation);
      await held.back();
    } catch (error) {
      if (!isGone(error) && !(error instanceof InTheWay)) throw error;
      const old = oldOf(rootOf(set, operation), operation);
      if (isGone(error) && old !== undefined && statIfPresent(old) !== undefined) homeless.push(old);
    }
  }
  removeRest(set, journal);
  for (const [index, root] of set.roots.entries()) {
    const made = journal.made.filter((each) => each.root === index).map(({ path }) => path);
    removeEmptyDirectories(root, made);
  }
  await syncNames(set, journal);
  if (homeless.length > 0) throw new Unsettled(homeless);
}

/** Removes what a set that has ended left beside its paths. */
export function removeRest(set: ChangeSet, journal: SetJournal): void {
  for (const operation of journal.operations) {
    try {
      using held = hold(set, journal, operation);
      held.removeRest();
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
}

/** False if others changed something in the way of the rest. */
export function canCarryOut(set: ChangeSet, journal: SetJournal): Promise<boolean> {
  return isTrueOfAll(set, journal, (held) => held.canGoOn());
}

/** True if no part of the set was done, as far as its directories are still there. */
export function isUntried(set: ChangeSet, journal: SetJournal): Promise<boolean> {
  return isTrueOfAll(set, journal, (held) => held.isUntried(), true);
}

async function isTrueOfAll(
  set: ChangeSet,
  journal: SetJournal,
  look: (held: HeldOperation) => Promise<boolean>,
  ofGone = false,
): Promise<boolean> {
  for (const operation of journal.operations) {
    await giveWay();
    try {
      using held = hold(set, journal, operation);
      if (!(await look(held))) return false;
    } catch (error) {
      if (!isGone(error)) throw error;
      if (!ofGone) return false;
    }
  }
  return true;
}

export function hold(set: ChangeSet, { markers }: SetJournal, operation: Operation): HeldOperation {
  return new HeldOperation(rootOf(set, operation), operation, BigInt(markers[operation.root] ?? 0));
}

async function syncNames({ roots }: ChangeSet, { operations, made }: SetJournal): Promise<void> {
  for (const [index, { path: top, directory }] of roots.entries()) {
    const own = [...operations, ...made].filter(({ root }) => root === index);
    const parents = new Set(own.map(({ path }) => join(top, dirname(path))));
    if (parents.size === 0) continue;
    await makeDurable([...parents, ...(directory === undefined ? [] : [join(directory, setParts.old)])]);
  }
}

/** The refusal for an error that is not this program's fault. */
function refusalOf(error: unknown): { readonly code: NotCommitted["code"]; readonly reason: string } | undefined {
  if (error instanceof InTheWay) return { code: "stale_file", reason: error.message };
  if (isGone(error)) return { code: "stale_file", reason: "its directory is not there any more" };
  const isClosed = ["EACCES", "EPERM", "EROFS"].some((code) => hasCode(error, code));
  return isClosed ? { code: "not_committable", reason: "nothing may be written in its directory" } : undefined;
}

/** The directory is gone, or a link is in its place. */
function isGone(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "path_changed"].some((code) => hasCode(error, code));
}
