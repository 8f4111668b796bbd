import { readFileSync } from "node:fs";
import { join } from "node:path";
import { carryOut } from "@gennai/machine/change-set/carry-out";
import { locksFor, releaseLocks, takeLocks } from "@gennai/machine/change-set/git-locks";
import { NotCommitted, type StageConflict } from "@gennai/machine/change-set/not-committed";
import {
  enterPhase,
  type Operation,
  removeJournal,
  rootOf,
  type SetJournal,
  seenIdentity,
  writeJournal,
} from "@gennai/machine/change-set/set-journal";
import { giveWay } from "@gennai/machine/entries/give-way";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { indexMeaning, isIndexFile } from "@gennai/machine/git-data/git-index";
import { isGitIndex, mayBeIndex, pathsInGit } from "@gennai/machine/git-data/git-path";
import { ownIndex, rebuiltIndex } from "@gennai/machine/git-data/rebuilt-index";
import type { Observation, StageEffect } from "../observe/effect.ts";
import { makeMarker, stageParts } from "../transaction/staged-root.ts";
import { removeRun, type Transaction } from "../transaction/transaction.ts";
import { lookAgain } from "./look-again.ts";
import { makeFresh } from "./make-fresh.ts";
import { makeTreesDurable } from "./make-trees-durable.ts";
import { type PlannedChange, planCommit } from "./plan-commit.ts";

/**
 * Writes effects of a staged run into the workspace, atomically. The stage must be closed before. The earlier files stay in the
 * transaction's `old` directories, for `undoCommit`.
 *
 * Throws `NotCommitted` if others changed the same files since, and for effects that can never be kept; the tree is then as
 * before, with the others' changes. If the process dies, its journal stays, and `recoverCommits` completes the commit.
 *
 * @param kept effects of the observation
 */
export async function commit(
  transaction: Transaction,
  observation: Observation,
  kept: Iterable<StageEffect>,
): Promise<void> {
  const changes = planAll(transaction, observation, new Set(kept));
  await lookAtAll(transaction, observation, changes);
  const operations: Operation[] = [];
  for (const [index, change] of changes.entries()) {
    await giveWay();
    operations.push(await operationFor(transaction, change, String(index)));
  }
  const markers = transaction.roots.map((root) => String(makeMarker(root)));
  await syncFresh(transaction, operations);
  const locks = [...locksFor(transaction, operations)];
  const journal: SetJournal = { version: 1, markers, operations, locks, roots: [], made: [] };
  await writeJournal(transaction, "committing", journal);
  try {
    takeLocks(transaction, locks);
    await lookAtAll(transaction, observation, changes);
  } catch (error) {
    releaseLocks(transaction, locks);
    await removeJournal(transaction, "committing");
    throw error;
  }
  await carryOut(transaction, journal);
  await enterPhase(transaction, "committing", "committed");
  releaseLocks(transaction, locks);
  await removeRun(transaction);
}

/**
 * Plans the changes of all roots, ordered as git's files may be seen to change: objects, then all else, then refs, then the
 * index.
 */
function planAll(
  transaction: Transaction,
  { effects, replaced }: Observation,
  kept: ReadonlySet<StageEffect>,
): readonly PlannedChange[] {
  const changes: PlannedChange[] = [];
  const refused: StageConflict[] = [];
  for (const [index, { path }] of transaction.roots.entries()) {
    const plan = planCommit(
      effects.filter(({ root }) => root === index),
      replaced.filter(({ root }) => root === index),
      kept,
    );
    changes.push(...plan.changes);
    refused.push(...plan.refused.map((one) => ({ ...one, root: path })));
  }
  if (refused.length > 0) throw new NotCommitted("not_committable", refused);
  const inGits = transaction.roots.map(({ path }) => pathsInGit(path));
  const ranked = changes.map((change) => {
    const inGit = inGits[change.effect.root]?.(change.effect.path);
    return { change, rank: inGit === undefined ? 1 : orderInGit.findIndex((pattern) => pattern.test(inGit)) };
  });
  return ranked.toSorted((one, other) => one.rank - other.rank).map(({ change }) => change);
}

/** The rank of a path in git's directory is the position of the first pattern that matches. */
const orderInGit = [
  /^objects(?:\/|$)/,
  /^(?!.*(?:^|\/)(?:refs|logs|packed-refs|HEAD|index)(?:\/|$))/,
  /^(?!.*index$)/,
  /^/,
];

async function lookAtAll(
  transaction: Transaction,
  { markers }: Observation,
  changes: readonly PlannedChange[],
): Promise<void> {
  const conflicts: StageConflict[] = [];
  for (const change of changes) {
    await giveWay();
    const root = rootOf(transaction, change.effect);
    const reason = await lookAgain(root, change, markers[change.effect.root] ?? 0n);
    if (reason !== undefined) conflicts.push({ root: root.path, path: change.effect.path, reason });
  }
  if (conflicts.length > 0) throw new NotCommitted("stale_file", conflicts);
}

async function operationFor(transaction: Transaction, change: PlannedChange, name: string): Promise<Operation> {
  const { effect, kind } = change;
  const { root, path } = effect;
  const before =
    effect.before === undefined ? null : seenIdentity({ ...effect.before.identity, type: effect.before.type });
  if (kind === "remove") return { root, path, name, before, after: null };
  if (kind === "place") {
    const staged = rootOf(transaction, effect);
    const isFile = effect.after?.type === "file";
    const isIndex = isFile && isGitIndex(staged.path, path);
    const rebuilt = (bytes: Uint8Array): Uint8Array => {
      const index = rebuiltIndex(bytes, ownIndex(join(staged.path, path)));
      if (index !== undefined || !(isIndex || isIndexFile(bytes))) return index ?? bytes;
      const reason = "it is split, sparse or damaged, so it cannot be judged";
      throw new NotCommitted("not_committable", [{ root: staged.path, path, reason }]);
    };
    const after = await makeFresh(staged, name, change, isFile && mayBeIndex(staged.path, path) ? rebuilt : undefined);
    const meaning = isIndex ? indexMeaning(readFileSync(join(staged.directory, stageParts.fresh, name))) : undefined;
    return meaning === undefined ? { root, path, name, before, after } : { root, path, name, before, after, meaning };
  }
  const mode = effect.after !== undefined && "mode" in effect.after ? effect.after.mode : 0;
  return { root, path, name, before, after: before === null ? null : { ...before, mode } };
}

async function syncFresh({ roots }: Transaction, operations: readonly Operation[]): Promise<void> {
  for (const [index, { path, directory }] of roots.entries()) {
    const own = operations.filter(({ root }) => root === index);
    const fresh = own
      .map(({ name }) => join(directory, stageParts.fresh, name))
      .filter((path) => statIfPresent(path) !== undefined);
    if (fresh.length > 0) await makeTreesDurable(fresh, path);
  }
}
