import { chmodSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { isWhiteout, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { mountsIn } from "@gennai/machine/entries/mounts-in";
import { isReadable, readableEntries } from "@gennai/machine/entries/names-in";
import { namesIn } from "@gennai/machine/entries/read-to-copy";
import { systemErrorCode } from "@gennai/machine/system-error";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import { errorMessage } from "@gennai/protocol/error-message";
import { layMask } from "../cover/lay-mask.ts";
import { type StageObstacle, StageUnavailable } from "../transaction/stage-error.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { systemProgram } from "../transaction/system-program.ts";
import { makeTransaction, removeTransaction } from "../transaction/transaction.ts";
import { copyRoots } from "./copied-roots.ts";
import { type CopyBudget, copyLimits, spend } from "./copy-budget.ts";
import { keepMounts } from "./mount-keeper.ts";
import { namingCopies, noCopyOf } from "./no-copy.ts";

/** Why overlays or copies are impossible, and the one thing to do about it. */
export interface NamedObstacle {
  readonly obstacle: StageObstacle;
  readonly reason: string;
  readonly advice: string;
}

/** Whether commands over these roots can be staged; on copies if overlays are impossible. */
export type StageSupport =
  | { readonly state: "staged"; readonly noOverlay?: NamedObstacle }
  | ({ readonly state: "unavailable" } & NamedObstacle);

/**
 * Tries it: hides an entry, mounts an overlay over each root, writes and removes there, and looks at the result. If that fails,
 * tries the same with a copy. Changes nothing in the roots.
 */
export async function probeStage(stateDir: string, roots: readonly WorkspaceRoot[]): Promise<StageSupport> {
  const noOverlay = await obstacleTo(async () => {
    refuseMachine();
    for (const root of roots) refuseRoot(root);
    await inTransaction(stateDir, roots, (staged) => tryOverlays(staged));
  });
  if (noOverlay === undefined) return { state: "staged" };
  if (!isMendedByCopy(noOverlay.obstacle)) return { state: "unavailable", ...noOverlay };
  const noCopy = await obstacleTo(() =>
    namingCopies(root0(roots), async () => {
      await refuseLarge(roots);
      await inTransaction(stateDir, roots, (staged) => tryCopies(staged));
    }),
  );
  if (noCopy === undefined) return { state: "staged", noOverlay };
  // The obstacle to overlays comes first: once it is removed, no copies are needed.
  return { state: "unavailable", ...noOverlay, reason: `${noOverlay.reason} ${noCopy.reason}` };
}

/**
 * Whether a copy avoids the obstacle. It does not where there is no place for it, where files could not be moved into the root,
 * and where this process may not look into namespaces to see who still writes to the copy.
 */
function isMendedByCopy(obstacle: StageObstacle): boolean {
  // Only root can set the owner of a replaced file.
  if (obstacle === "foreign_owner") return process.geteuid?.() === 0;
  return !(["not_linux", "no_place", "no_user_namespaces", "program_missing"] as const).some((one) => one === obstacle);
}

async function obstacleTo(work: () => Promise<void>): Promise<NamedObstacle | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof StageUnavailable)) throw error;
    return { obstacle: error.obstacle, reason: error.message, advice: error.advice };
  }
}

async function inTransaction(
  stateDir: string,
  roots: readonly WorkspaceRoot[],
  work: (roots: readonly StagedRoot[]) => Promise<void>,
): Promise<void> {
  const transaction = await makeTransaction(stateDir, roots);
  try {
    await work(transaction.roots);
  } finally {
    await removeTransaction(transaction);
  }
}

function refuseMachine(): void {
  if (process.platform !== "linux") {
    throw new StageUnavailable(
      "not_linux",
      `There are no overlays on ${process.platform}.`,
      "Run the server on Linux.",
    );
  }
  for (const program of ["unshare", "nsenter", "mount", "mknod", "sync"]) systemProgram(program);
}

function refuseRoot({ path }: WorkspaceRoot): void {
  const user = process.geteuid?.();
  const foreign = [path, join(path, ".git")].find((one) => {
    const owner = lstatSync(one, { throwIfNoEntry: false })?.uid;
    return owner !== undefined && owner !== user;
  });
  if (foreign !== undefined) {
    throw new StageUnavailable(
      "foreign_owner",
      `${foreign} belongs to another user.`,
      `Run the server as its owner, or give it to this user (chown -R).`,
    );
  }
  const shared = sharedDirectory(path);
  if (shared !== undefined) {
    throw new StageUnavailable(
      "shared_group",
      `In ${shared} new files get a group that a user namespace does not have.`,
      "Start the server with that group as the main one: newgrp GROUP.",
    );
  }
  const [inside] = mountsIn(path);
  if (inside !== undefined) {
    throw new StageUnavailable(
      "mount_inside",
      `Something is mounted at ${join(path, inside)}, which a stage would not show.`,
      `Unmount it, or open a workspace that does not hold it.`,
    );
  }
}

/**
 * A directory whose new entries get another group than this process's own. Git's data and the top are looked at: trees are
 * shared as a whole.
 */
function sharedDirectory(root: string): string | undefined {
  const own = process.getegid?.();
  const top = readableEntries(root).filter((entry) => entry.isDirectory() && entry.name !== ".git");
  const places = [".", ".git", ".git/objects", ".git/refs", ...top.map(({ name }) => name)];
  return places
    .map((name) => join(root, name))
    .find((path) => {
      const stat = statIfPresent(path);
      return stat?.isDirectory() === true && (stat.mode & 0o2000n) !== 0n && Number(stat.gid) !== own;
    });
}

async function tryOverlays(roots: readonly StagedRoot[]): Promise<void> {
  const hidden = new Map<StagedRoot, string>();
  for (const root of roots) {
    const [name] = namesIn(root.path);
    if (name !== undefined) hidden.set(root, name);
    await layMask(root, { hidden: name === undefined ? [] : [name], copies: new Map() });
  }
  const mounts = await keepMounts(roots, "gennai-stage-probe");
  try {
    for (const root of roots) tryOverlay(root, mounts.merged(root), hidden.get(root));
  } catch (error) {
    if (error instanceof StageUnavailable) throw error;
    throw unfit(root0(roots), errorMessage(error), error);
  } finally {
    await mounts.close();
  }
}

function tryOverlay(root: StagedRoot, merged: string, hidden: string | undefined): void {
  if (hidden !== undefined && readdirSync(merged).includes(hidden)) throw unfit(root.path, "a hidden name shows");
  const name = ".gennai-probe";
  writeFileSync(join(merged, name), name);
  const upper = join(root.directory, stageParts.upper);
  if (readFileSync(join(upper, name), "utf8") !== name) throw unfit(root.path, "what is written is not there");
  if (existsSync(join(root.path, name))) throw unfit(root.path, "what is written reaches the workspace");
  rmSync(join(merged, name));
  const removed = namesIn(merged).find((one) => statIfPresent(join(merged, one))?.isFile());
  if (removed === undefined) return;
  rmSync(join(merged, removed));
  const stat = statIfPresent(join(upper, removed));
  if (stat === undefined || !isWhiteout(stat)) throw unfit(root.path, "what is removed does not show");
  if (!existsSync(join(root.path, removed))) throw unfit(root.path, "what is removed is gone from the workspace");
}

/** Throws if the roots are too large to copy. Each command counts again: this only saves a useless wait. */
async function refuseLarge(roots: readonly WorkspaceRoot[]): Promise<void> {
  const budget: CopyBudget = { ...copyLimits };
  const waiting = roots.map(({ path }) => path);
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of readableEntries(directory)) {
      await giveWay();
      const path = join(directory, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      spend(budget, root0(roots), entry.isFile() ? sizeOf(path) : 0);
    }
  }
}

/** Bytes of a file; 0 if it is gone or its directory may not be entered, because then it is not copied. */
function sizeOf(path: string): number {
  try {
    return Number(statIfPresent(path)?.size ?? 0n);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return 0;
  }
}

/** Tries copies with one file of each root: only checks that changes in a copy are found. */
async function tryCopies(roots: readonly StagedRoot[]): Promise<void> {
  const copied = roots.map((root) => {
    const names = readdirSync(root.path, { withFileTypes: true });
    // Files that cannot be read are not copied.
    const one = names.find((entry) => entry.isFile() && isReadable(join(root.path, entry.name)))?.name;
    const hidden = names.map(({ name }) => name).filter((name) => name !== one);
    return { ...root, seen: { root, covered: { hidden, copies: new Map() } }, one };
  });
  // Where only others may make namespaces, this process cannot look into them.
  await (await keepMounts([], "gennai-stage-probe")).close();
  const { mounts } = await copyRoots(copied);
  for (const root of copied) {
    const seen = mounts.merged(root);
    writeFileSync(join(seen, ".gennai-probe"), "");
    if (root.one === undefined) continue;
    chmodSync(join(seen, root.one), 0o600);
    writeFileSync(join(seen, root.one), "changed");
  }
  await mounts.settle();
  for (const root of copied) {
    const found = readdirSync(join(root.directory, stageParts.upper));
    const wanted = new Set([".gennai-probe", ...(root.one === undefined ? [] : [root.one])]);
    if (found.length !== wanted.size || !found.every((name) => wanted.has(name))) {
      throw noCopyOf(root.path, "what is changed in a copy is not found");
    }
  }
}

function root0([first]: readonly WorkspaceRoot[]): string {
  return first?.path ?? "";
}

function unfit(path: string, reason: string, cause?: unknown): StageUnavailable {
  return new StageUnavailable(
    "overlay_refused",
    `An overlay over ${path} does not work: ${reason}.`,
    "Put the workspace and GENNAI_STATE_DIR on ext4, xfs or btrfs, and use Linux 5.11 or newer.",
    cause,
  );
}
