import { type BigIntStats, chmodSync, closeSync, constants, linkSync, openSync, renameSync, unlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { systemErrorCode } from "../../system-error.ts";
import { type HeldDirectory, holdDirectory } from "../../workspace/files/held-directory.ts";
import { modeOf, statIfPresent } from "../files/look-at-entry.ts";
import { isTouchedBelow } from "../files/touched-below.ts";
import type { Operation, OperationIdentity } from "../transaction/commit-journal.ts";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";

/** State of an operation, by inodes. */
interface Standing {
  /** What is at the path: the earlier or the new state, nothing, or something made by others. */
  readonly at: "before" | "after" | "nothing" | "foreign";
  /** What was there before has been taken from its place. */
  readonly isTaken: boolean;
}

/** Others changed something in the way. */
export class InTheWay extends Error {
  override readonly name = "InTheWay";
}

/** An operation whose directories are held open, so that no link can redirect it. The holder closes it. */
export class HeldOperation implements Disposable {
  readonly #operation: Operation;
  readonly #marker: bigint;
  readonly #parent: HeldDirectory;
  readonly #place: string;
  readonly #old: string;
  readonly #fresh: string;

  /**
   * Throws system errors when the directory is not there any more.
   * @param marker ctime in nanoseconds: anything not older was changed since the commit began
   */
  constructor(root: StagedRoot, operation: Operation, marker: bigint) {
    const parent = dirname(operation.path);
    this.#marker = marker;
    this.#operation = operation;
    this.#parent = holdDirectory(root, parent === "." ? [] : parent.split("/"));
    this.#place = this.#parent.entry(basename(operation.path));
    this.#old = join(root.directory, stageParts.old, operation.name);
    this.#fresh = join(root.directory, stageParts.fresh, operation.name);
  }

  /** True for an operation that only sets a mode. */
  get #isMode(): boolean {
    const { before, after } = this.#operation;
    return before !== null && before.inode === after?.inode;
  }

  #standing(): Standing {
    const { before, after } = this.#operation;
    const isTaken = before !== null && statIfPresent(this.#old)?.ino === BigInt(before.inode);
    return { at: this.#at(statIfPresent(this.#place), before, after), isTaken };
  }

  /** Throws `InTheWay` if the removed file, or its replacement, was written to. */
  async refuseTouched(): Promise<void> {
    const { before, after } = this.#operation;
    const { at, isTaken } = this.#standing();
    if (this.#isMode) {
      if (at !== "after") throw new InTheWay("somebody else changed it");
      return;
    }
    const isOldTouched = isTaken && before !== null && !(await this.#isUntouched(this.#old, before));
    const isNewTouched = after !== null && (at !== "after" || !(await this.#isUntouched(this.#place, after)));
    if (isOldTouched || isNewTouched) throw new InTheWay("somebody else changed it");
  }

  /** True if no part of the operation was done. */
  isUntried(): boolean {
    const { at, isTaken } = this.#standing();
    return !isTaken && at !== "after";
  }

  #at(
    real: BigIntStats | undefined,
    before: OperationIdentity | null,
    after: OperationIdentity | null,
  ): Standing["at"] {
    if (real === undefined) return "nothing";
    if (this.#isMode && real.ino === BigInt(before?.inode ?? -1)) {
      return modeOf(real) === after?.mode ? "after" : modeOf(real) === before?.mode ? "before" : "foreign";
    }
    if (after !== null && real.ino === BigInt(after.inode)) return "after";
    return before !== null && real.ino === BigInt(before.inode) ? "before" : "foreign";
  }

  /** False if others changed something in the way of the remaining steps. */
  async canGoOn(): Promise<boolean> {
    const { before } = this.#operation;
    const { at, isTaken } = this.#standing();
    if (this.#isMode) return at === "before" || at === "after";
    if (before === null) return at === "nothing" || at === "after";
    if (!isTaken) return at === "before" && (await this.#isUntouched(this.#place, before));
    return (at === "nothing" || at === "after") && (await this.#isUntouched(this.#old, before));
  }

  /** Does the remaining steps. Throws `InTheWay`. */
  async forward(): Promise<void> {
    const { before, after } = this.#operation;
    const { at, isTaken } = this.#standing();
    if (this.#isMode) {
      if (at === "before") setMode(this.#place, after?.mode ?? 0);
      else if (at !== "after") throw new InTheWay("somebody else changed it");
      return;
    }
    if (before !== null && !isTaken) {
      if (at !== "before") throw new InTheWay(at === "nothing" ? "it is gone" : "somebody else changed it");
      await this.#take(before);
    }
    if (after === null) {
      if (isTaken && at !== "nothing") throw new InTheWay("somebody else made it anew");
      return;
    }
    if (at === "after") return this.#finish(after);
    if (isTaken || before === null) {
      if (at !== "nothing") throw new InTheWay("somebody else made it");
    }
    this.#put(this.#fresh, this.#place, after.type);
    this.#finish(after);
  }

  /** Rolls back what was done; files that others put there stay. */
  async back(): Promise<void> {
    const { before, after } = this.#operation;
    const { at, isTaken } = this.#standing();
    if (this.#isMode) {
      if (at === "after") setMode(this.#place, before?.mode ?? 0);
      return;
    }
    if (at === "foreign") return;
    if (at === "after" && after !== null && !(await this.#takeBack(after))) return;
    if (!isTaken || before === null) return;
    this.#put(this.#old, this.#place, before.type);
    if (before.type === "directory") setMode(this.#place, before.mode);
  }

  [Symbol.dispose](): void {
    this.#parent[Symbol.dispose]();
  }

  /**
   * Checks the entry after moving it away, and puts it back if it is not the expected one: no later change of the user is lost.
   */
  async #take(before: OperationIdentity): Promise<void> {
    makeMovable(this.#place, before);
    renameSync(this.#place, this.#old);
    if (await this.#isUntouched(this.#old, before)) return;
    this.#putBack(this.#old);
    throw new InTheWay("somebody else changed it");
  }

  /** @returns false if others changed it since: it stays */
  async #takeBack(after: OperationIdentity): Promise<boolean> {
    if (!(await this.#isUntouched(this.#place, after))) return false;
    // Both are names of one file, and a rename between them would do nothing.
    if (statIfPresent(this.#fresh) !== undefined) {
      unlinkSync(this.#place);
      return true;
    }
    makeMovable(this.#place, after);
    renameSync(this.#place, this.#fresh);
    if (await this.#isUntouched(this.#fresh, after)) return true;
    this.#putBack(this.#fresh);
    return false;
  }

  #putBack(taken: string): void {
    this.#put(taken, this.#place, statIfPresent(taken)?.isDirectory() ? "directory" : "file");
  }

  async #isUntouched(path: string, { type, inode, size, mtimeNs }: OperationIdentity): Promise<boolean> {
    const stat = statIfPresent(path);
    if (stat?.ino !== BigInt(inode)) return false;
    if (type === "directory") return !(await isTouchedBelow(path, this.#marker));
    return stat.size === BigInt(size) && stat.mtimeNs === BigInt(mtimeNs);
  }

  /** Moves an entry into place; never replaces an existing one. Throws `InTheWay`. */
  #put(from: string, to: string, type: OperationIdentity["type"]): void {
    try {
      if (type === "directory") {
        if (statIfPresent(to) !== undefined) throw new InTheWay("somebody else made it");
        renameSync(from, to);
      } else {
        linkSync(from, to);
        unlinkSync(from);
      }
    } catch (error) {
      const code = systemErrorCode(error);
      if (code === "EEXIST" || code === "ENOTEMPTY" || code === "ENOTDIR") throw new InTheWay("somebody else made it");
      throw error;
    }
  }

  #finish(after: OperationIdentity): void {
    if (after.type === "directory") setMode(this.#place, after.mode);
    // A kill may have left the second name of the file.
    else if (statIfPresent(this.#fresh)?.ino === BigInt(after.inode)) unlinkSync(this.#fresh);
  }
}

/** Opens a directory for its owner, because moving it writes to it (its `..` changes). */
function makeMovable(path: string, { type, mode }: OperationIdentity): void {
  if (type === "directory" && (mode & 0o200) === 0) setMode(path, mode | 0o200);
}

/** Sets the mode of the entry itself: never follows a link that was put there. */
function setMode(path: string, mode: number): void {
  const descriptor = openSync(path, linuxPath | constants.O_NOFOLLOW);
  try {
    chmodSync(`/proc/self/fd/${descriptor}`, mode);
  } finally {
    closeSync(descriptor);
  }
}

/** Linux's O_PATH, which Node does not name: it can hold an entry that may not be read. */
const linuxPath = 0o10000000;
