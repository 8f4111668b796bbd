import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isWithin } from "../sandbox/host-layout.ts";
import type { WorkspaceRoot } from "../workspace/workspace-root.ts";
import { layMask } from "./lay-mask.ts";
import { isWhiteout, statIfPresent } from "./look-at-entry.ts";
import { keepMounts } from "./mount-keeper.ts";
import { type StageObstacle, StageUnavailable } from "./stage-error.ts";
import { type StagedRoot, stageParts } from "./staging-place.ts";
import { systemProgram } from "./system-program.ts";
import { makeTransaction, removeTransaction } from "./transaction.ts";

/** Whether commands over these roots can be staged. `advice` is the one thing to do where they cannot. */
export type StageSupport =
  | { readonly state: "staged" }
  | {
      readonly state: "unavailable";
      readonly obstacle: StageObstacle;
      readonly reason: string;
      readonly advice: string;
    };

/**
 * Finds out by doing it: hides an entry, mounts an overlay over each root, writes and removes there, looks at what that left.
 * Nothing of the roots changes.
 */
export async function probeStage(stateDir: string, roots: readonly WorkspaceRoot[]): Promise<StageSupport> {
  try {
    refuseMachine();
    for (const root of roots) refuseRoot(root);
    const transaction = await makeTransaction(stateDir, roots);
    try {
      await tryOverlays(transaction.roots);
    } finally {
      await removeTransaction(transaction);
    }
    return { state: "staged" };
  } catch (error) {
    if (!(error instanceof StageUnavailable)) throw error;
    return { state: "unavailable", obstacle: error.obstacle, reason: error.message, advice: error.advice };
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
  const inside = mountPoints().find((point) => point !== path && isWithin(point, path));
  if (inside !== undefined) {
    throw new StageUnavailable(
      "mount_inside",
      `Another file system is mounted at ${inside}, which a stage would not show.`,
      `Unmount it, or open a workspace that does not hold it.`,
    );
  }
}

/** By what the kernel says; it writes blanks and a few other characters as octal numbers. */
function mountPoints(): readonly string[] {
  const lines = readFileSync("/proc/self/mountinfo", "latin1").split("\n");
  return lines.map((line) => {
    const point = (line.split(" ")[4] ?? "").replace(/\\([0-7]{3})/g, (_, octal: string) => {
      return String.fromCharCode(Number.parseInt(octal, 8));
    });
    return Buffer.from(point, "latin1").toString();
  });
}

async function tryOverlays(roots: readonly StagedRoot[]): Promise<void> {
  const hidden = new Map<StagedRoot, string>();
  for (const root of roots) {
    const [name] = readdirSync(root.path);
    if (name !== undefined) hidden.set(root, name);
    await layMask(root, { hidden: name === undefined ? [] : [name], copies: new Map() });
  }
  const mounts = await keepMounts(roots, "gennai-stage-probe");
  try {
    for (const root of roots) tryOverlay(root, mounts.merged(root), hidden.get(root));
  } catch (error) {
    if (error instanceof StageUnavailable) throw error;
    throw unfit(root0(roots), error instanceof Error ? error.message : String(error), error);
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
  const removed = readdirSync(merged, { withFileTypes: true }).find((entry) => entry.isFile())?.name;
  if (removed === undefined) return;
  rmSync(join(merged, removed));
  const stat = statIfPresent(join(upper, removed));
  if (stat === undefined || !isWhiteout(stat)) throw unfit(root.path, "what is removed does not show");
  if (!existsSync(join(root.path, removed))) throw unfit(root.path, "what is removed is gone from the workspace");
}

function root0([first]: readonly StagedRoot[]): string {
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
