import { dirname, join } from "node:path";
import { hasCode } from "../../system-error.ts";
import { giveWay } from "../files/give-way.ts";
import { statIfPresent } from "../files/look-at-entry.ts";
import { type CommitJournal, type Operation, removeJournal } from "../transaction/commit-journal.ts";
import { NotCommitted, Unsettled } from "../transaction/stage-error.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import type { Transaction } from "../transaction/transaction.ts";
import { releaseLocks } from "./git-locks.ts";
import { HeldOperation, InTheWay } from "./held-operation.ts";
import { makeDurable } from "./make-durable.ts";

/**
 * Completes a commit, durably. If others changed something in its way, or a directory is closed, it is rolled back, the journal
 * ends, and `NotCommitted` is thrown.
 */
export async function carryOut(transaction: Transaction, journal: CommitJournal): Promise<void> {
  let current: Operation | undefined;
  const forEach = async (work: (held: HeldOperation) => Promise<void>): Promise<void> => {
    for (const operation of journal.operations) {
      current = operation;
      await giveWay();
      using held = hold(transaction, journal, operation);
      await work(held);
    }
  };
  try {
    await forEach((held) => held.forward());
    // An editor that had a file open may have written to it meanwhile.
    await forEach((held) => held.refuseTouched());
    await syncNames(transaction, journal);
  } catch (error) {
    await takeBack(transaction, journal);
    releaseLocks(transaction, journal.locks);
    await removeJournal(transaction, "committing");
    const refusal = current === undefined ? undefined : refusalOf(error);
    if (current === undefined || refusal === undefined) throw error;
    const { code, reason } = refusal;
    throw new NotCommitted(code, [{ root: rootOf(transaction, current).path, path: current.path, reason }]);
  }
}

/**
 * Restores the earlier state, durably, except where others changed something since. Throws `Unsettled` if something has no
 * place to go back to: it stays where it is.
 */
export async function takeBack(transaction: Transaction, journal: CommitJournal): Promise<void> {
  const homeless: string[] = [];
  for (const operation of journal.operations.toReversed()) {
    await giveWay();
    const root = rootOf(transaction, operation);
    try {
      using held = hold(transaction, journal, operation);
      await held.back();
    } catch (error) {
      if (!isGone(error) && !(error instanceof InTheWay)) throw error;
      const old = join(root.directory, stageParts.old, operation.name);
      if (isGone(error) && statIfPresent(old) !== undefined) homeless.push(old);
    }
  }
  await syncNames(transaction, journal);
  if (homeless.length > 0) throw new Unsettled(homeless);
}

/** False if others changed something in the way of the rest. */
export async function canCarryOut(transaction: Transaction, journal: CommitJournal): Promise<boolean> {
  for (const operation of journal.operations) {
    await giveWay();
    try {
      using held = hold(transaction, journal, operation);
      if (!(await held.canGoOn())) return false;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }
  return true;
}

export function hold(transaction: Transaction, { markers }: CommitJournal, operation: Operation): HeldOperation {
  return new HeldOperation(rootOf(transaction, operation), operation, BigInt(markers[operation.root] ?? 0));
}

export function rootOf({ roots }: Transaction, { root }: Pick<Operation, "root">): StagedRoot {
  const found = roots[root];
  if (found === undefined) throw new RangeError(`There is no root ${root}.`);
  return found;
}

async function syncNames({ roots }: Transaction, { operations }: CommitJournal): Promise<void> {
  for (const [index, root] of roots.entries()) {
    const own = operations.filter((operation) => operation.root === index);
    const parents = new Set(own.map(({ path }) => join(root.path, dirname(path))));
    if (parents.size > 0) await makeDurable([...parents, join(root.directory, stageParts.old)], root.path);
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
