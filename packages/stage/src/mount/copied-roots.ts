import { rmdirSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { lookLike } from "@gennai/machine/entries/look-like";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import type { CoveredRoot } from "../cover/covered-roots.ts";
import type { Covered } from "../cover/covered-tree.ts";
import type { StagedCache } from "../layer/staged-caches.ts";
import { StageUnavailable } from "../transaction/stage-error.ts";
import { makeMarker, type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { systemProgram } from "../transaction/system-program.ts";
import { linkWhiteout } from "../transaction/whiteout.ts";
import { ComparedCopy } from "./compared-copy.ts";
import { adaptCopiedIndex, type RootAndCopy } from "./copied-index.ts";
import { copyRoot } from "./copied-tree.ts";
import { type CopyBudget, copyLimits } from "./copy-budget.ts";
import { LaidChanges } from "./laid-changes.ts";
import type { MountKeeper } from "./mount-keeper.ts";
import type { SessionNetwork } from "./session-network.ts";

export interface CopiedRoots {
  readonly mounts: MountKeeper;
  /** What is hidden from the command, by root: also entries that could not be read. */
  readonly covered: readonly Covered[];
}

/**
 * Where no overlay can be mounted, a command sees private copies of the roots, at the roots' own paths. Throws
 * `StageUnavailable`, and system errors.
 *
 * @param roots of one transaction
 */
export async function copyRoots(
  roots: readonly (StagedRoot & { readonly seen: CoveredRoot })[],
  {
    network,
    caches = [],
    goesOn = false,
  }: {
    readonly network?: SessionNetwork | undefined;
    readonly caches?: readonly StagedCache[];
    /** With what earlier runs wrote. */
    readonly goesOn?: boolean;
  } = {},
): Promise<CopiedRoots> {
  // Anything changed during the copying counts as changed meanwhile.
  const markers = roots.map(makeMarker);
  const budget: CopyBudget = { ...copyLimits };
  const copies = new Map<string, ComparedCopy>();
  const covered: Covered[] = [];
  const made: RootAndCopy[] = [];
  const laid = roots.map((root) => new LaidChanges(root));
  if (goesOn) for (const one of laid) await one.putAside();
  for (const root of roots) {
    const copied = await copyRoot(root, root.seen, budget);
    made.push({ root, copied });
    lookLike(root.path, mergedOf(root));
    copies.set(root.directory, new ComparedCopy(root, copied, await canHideIn(root)));
    covered.push({ ...root.seen.covered, hidden: [...root.seen.covered.hidden, ...copied.unread] });
  }
  await adaptCopiedIndex(made);
  // Wait until the file system's clock has advanced: a change by the command is recognised by its time.
  for (const root of roots) makeMarker(root);
  if (goesOn) for (const one of laid) await one.lay();
  let settled: Promise<void> | undefined;
  const compareAll = async (): Promise<void> => {
    for (const copy of copies.values()) await copy.compare();
  };
  const names = roots.map(shownName);
  const copyOf = ({ directory }: StagedRoot): ComparedCopy => {
    const copy = copies.get(directory);
    if (copy === undefined) throw new Error(`${directory} holds no copy.`);
    return copy;
  };
  const settle = (): Promise<void> => (settled ??= compareAll());
  const stay = async (): Promise<void> => {
    await settle();
    for (const [at, root] of roots.entries()) await laid[at]?.replace(copyOf(root).changes);
  };
  const mounts: MountKeeper = {
    joinArguments: network === undefined ? [] : [systemProgram("nsenter"), ...network.joinArguments, "--"],
    // The kernel names the mounted directory, and that of a run has a unique name.
    isSeen: (_process, seen) => names.some((name) => seen.includes(`${name} `)),
    hasNetwork: network !== undefined,
    caches: caches.filter(isWritten),
    mountCaches: async () => undefined,
    markers,
    merged: mergedOf,
    settle,
    stay,
    wrote: (root, path) => copyOf(root).wrote(path),
    view: copyOf,
    asLeft: (root, work) => copyOf(root).asLeft(work),
    areThere: () => roots.every((root) => statIfPresent(mergedOf(root))?.isDirectory() === true),
    close: async () => {
      if (goesOn) await stay();
      for (const root of roots) await removeTree(mergedOf(root));
    },
  };
  return { mounts, covered };
}

function mergedOf({ directory }: StagedRoot): string {
  return join(directory, stageParts.merged);
}

/**
 * The end of the copy's path, by which a process's list of mounts shows the copy. The kernel leaves out the part of the path
 * above that file system, and escapes some characters; neither affects this end.
 */
function shownName({ directory }: StagedRoot): string {
  const own = basename(directory);
  const transaction = own.startsWith(".gennai-stage-") ? "" : `/${basename(dirname(directory))}`;
  return `${transaction}/${own}/${stageParts.merged}`;
}

/** Whether the file system supports whiteouts, with which a session's layer says that a name is gone. */
async function canHideIn({ directory }: StagedRoot): Promise<boolean> {
  const tried = join(directory, "tried");
  // By the run before.
  rmSync(tried, { force: true });
  try {
    await linkWhiteout(join(directory, "whiteout"), tried);
    return true;
  } catch (error) {
    if (error instanceof StageUnavailable) return false;
    throw error;
  }
}

/**
 * Whether the run can write to a cache. A cache that the user has is read-only; one that the user does not have is created for
 * the run, without what the session fetched before, since there is no overlay.
 */
function isWritten({ below, directory }: StagedCache): boolean {
  rmdirSync(join(directory, stageParts.merged));
  if (basename(below) !== "none" || dirname(below) !== directory) return false;
  symlinkSync(join(directory, stageParts.upper), join(directory, stageParts.merged));
  return true;
}
