import { hash } from "node:crypto";
import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  openSync,
  readlinkSync,
  renameSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { entryAt, modeOf, statIfPresent } from "../entries/look-at-entry.ts";
import { isTouchedBelow } from "../entries/touched-below.ts";
import { systemErrorCode } from "../system-error.ts";
import { type HeldDirectory, holdDirectory } from "../workspace/files/held-directory.ts";
import { splitRelative } from "../workspace/paths/split-relative.ts";
import { moveToFreeName } from "./place-file.ts";
import type { Operation, OperationIdentity, SeenIdentity, SetRoot } from "./set-journal.ts";

/** Names in a root's private directory. */
export const setParts = {
  /** Entries that are ready to be put in place. */
  fresh: "fresh",
  /** Entries taken from their places, for undoing. */
  old: "old",
} as const;

/** State of an operation. */
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
  readonly #isBeside: boolean;

  /**
   * Throws system errors when the directory is not there any more.
   * @param marker ctime in nanoseconds: anything not older was changed since the set was begun
   */
  constructor(root: SetRoot, operation: Operation, marker: bigint) {
    const { parents, name } = splitRelative(operation.path);
    this.#marker = marker;
    this.#operation = operation;
    this.#parent = holdDirectory(root, parents);
    this.#place = this.#parent.entry(name);
    const { directory } = root;
    this.#isBeside = directory === undefined;
    // An unguessable name is all that there is to tell that the entry was taken.
    this.#old = oldOf(root, operation) ?? this.#parent.entry(`${operation.name}-old`);
    this.#fresh =
      directory === undefined ? this.#parent.entry(operation.name) : join(directory, setParts.fresh, operation.name);
  }

  /** For an operation that only sets a mode: the modes. */
  get #modes(): { readonly before: number; readonly after: number } | undefined {
    const { before, after } = this.#operation;
    if (before === null || after === null || "sha256" in before || "sha256" in after) return undefined;
    return before.inode === after.inode ? { before: before.mode, after: after.mode } : undefined;
  }

  async #standing(): Promise<Standing> {
    const { before, after } = this.#operation;
    const old = before === null ? undefined : statIfPresent(this.#old);
    const isTaken = old !== undefined && before !== null && ("sha256" in before || old.ino === BigInt(before.inode));
    const real = statIfPresent(this.#place);
    if (real === undefined) return { at: "nothing", isTaken };
    const isBefore = await isEntry(this.#place, real, before);
    const modes = this.#modes;
    if (modes !== undefined) {
      const mode = isBefore ? modeOf(real) : -1;
      return { at: mode === modes.after ? "after" : mode === modes.before ? "before" : "foreign", isTaken };
    }
    // If both contents are equal, what was taken tells which one this is.
    if ((isTaken || !isBefore) && (await isEntry(this.#place, real, after))) return { at: "after", isTaken };
    return { at: isBefore ? "before" : "foreign", isTaken };
  }

  /** Throws `InTheWay` if the removed file, or its replacement, was written to. */
  async refuseTouched(): Promise<void> {
    const { before, after } = this.#operation;
    const { at, isTaken } = await this.#standing();
    if (this.#modes !== undefined) {
      if (at !== "after") throw new InTheWay("somebody else changed it");
      return;
    }
    const isOldTouched = isTaken && before !== null && !(await this.#isUntouched(this.#old, before));
    const isNewTouched = after !== null && (at !== "after" || !(await this.#isUntouched(this.#place, after)));
    if (isOldTouched || isNewTouched) throw new InTheWay("somebody else changed it");
  }

  /** True if no part of the operation was done. */
  async isUntried(): Promise<boolean> {
    const { at, isTaken } = await this.#standing();
    return !isTaken && at !== "after";
  }

  /** False if others changed something in the way of the remaining steps. */
  async canGoOn(): Promise<boolean> {
    const { before } = this.#operation;
    const { at, isTaken } = await this.#standing();
    if (this.#modes !== undefined) return at === "before" || at === "after";
    if (before === null) return at === "nothing" || at === "after";
    if (!isTaken) return at === "after" || (at === "before" && (await this.#isUntouched(this.#place, before)));
    return (at === "nothing" || at === "after") && (await this.#isUntouched(this.#old, before));
  }

  /** Does the remaining steps. Throws `InTheWay`. */
  async forward(): Promise<void> {
    this.#parent.check();
    const { before, after } = this.#operation;
    const { at, isTaken } = await this.#standing();
    const modes = this.#modes;
    if (modes !== undefined) {
      if (at === "before") setMode(this.#place, modes.after);
      else if (at !== "after") throw new InTheWay("somebody else changed it");
      return;
    }
    if (after !== null && at === "after") return this.#finish(after);
    if (before !== null && !isTaken) {
      if (at !== "before") throw new InTheWay(at === "nothing" ? "it is gone" : "somebody else changed it");
      await this.#take(before);
    }
    if (after === null) {
      if (isTaken && at !== "nothing") throw new InTheWay("somebody else made it anew");
      return;
    }
    if ((isTaken || before === null) && at !== "nothing") throw new InTheWay("somebody else made it");
    put(this.#fresh, this.#place, after.type);
    this.#finish(after);
  }

  /** Rolls back what was done; files that others put there stay. */
  async back(): Promise<void> {
    this.#parent.check();
    const { before, after } = this.#operation;
    const { at, isTaken } = await this.#standing();
    const modes = this.#modes;
    if (modes !== undefined) {
      if (at === "after") setMode(this.#place, modes.before);
      return;
    }
    // Nothing may be taken away for which nothing comes back.
    if (at === "foreign" || (before !== null && !isTaken)) return;
    if (at === "after" && after !== null && !(await this.#takeBack(after))) return;
    if (before === null) return;
    put(this.#old, this.#place, before.type);
    if ("mode" in before && before.type === "directory") setMode(this.#place, before.mode);
  }

  /** Removes what is left beside the path. */
  removeRest(): void {
    if (!this.#isBeside) return;
    this.#parent.check();
    for (const path of [this.#fresh, this.#old]) if (statIfPresent(path) !== undefined) unlinkSync(path);
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
    put(taken, this.#place, statIfPresent(taken)?.isDirectory() ? "directory" : "file");
  }

  async #isUntouched(path: string, identity: OperationIdentity): Promise<boolean> {
    const stat = statIfPresent(path);
    if (stat === undefined || !(await isEntry(path, stat, identity))) return false;
    if ("sha256" in identity) return true;
    if (identity.type === "directory") return !(await isTouchedBelow(path, this.#marker));
    return stat.size === BigInt(identity.size) && stat.mtimeNs === BigInt(identity.mtimeNs);
  }

  #finish(after: OperationIdentity): void {
    if ("mode" in after && after.type === "directory") return setMode(this.#place, after.mode);
    // A kill may have left the second name of the file.
    const fresh = statIfPresent(this.#fresh);
    if (fresh !== undefined && ("sha256" in after || fresh.ino === BigInt(after.inode))) unlinkSync(this.#fresh);
  }
}

/** Path of what was taken, if it is in a private directory. */
export function oldOf({ directory }: SetRoot, { name }: Operation): string | undefined {
  return directory === undefined ? undefined : join(directory, setParts.old, name);
}

/** Whether an entry is the one described, by inode or by content. */
export async function isEntry(path: string, stat: BigIntStats, identity: OperationIdentity | null): Promise<boolean> {
  if (identity === null) return false;
  if (!("sha256" in identity)) return stat.ino === BigInt(identity.inode);
  if (stat.isSymbolicLink()) {
    const target = readlinkSync(path, { encoding: "buffer" });
    return identity.type === "link" && hash("sha256", target, "hex") === identity.sha256;
  }
  if (identity.type !== "file" || !stat.isFile()) return false;
  const entry = await entryAt(path, stat);
  return entry.type === "file" && entry.sha256 === identity.sha256;
}

/** Moves an entry into place; never replaces an existing one. Throws `InTheWay`. */
function put(from: string, to: string, type: OperationIdentity["type"]): void {
  try {
    // A hard link of a symbolic link is one only on Linux.
    if (type === "directory" || (type === "link" && process.platform !== "linux")) {
      if (statIfPresent(to) !== undefined) throw new InTheWay("somebody else made it");
      renameSync(from, to);
    } else moveToFreeName(from, to);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "EEXIST" || code === "ENOTEMPTY" || code === "ENOTDIR") throw new InTheWay("somebody else made it");
    throw error;
  }
}

/** Opens a directory for its owner, because moving it writes to it (its `..` changes). */
function makeMovable(path: string, identity: OperationIdentity): void {
  if (isClosedDirectory(identity)) setMode(path, identity.mode | 0o200);
}

function isClosedDirectory(identity: OperationIdentity): identity is SeenIdentity {
  return "mode" in identity && identity.type === "directory" && (identity.mode & 0o200) === 0;
}

/** Sets the mode of the entry itself: never follows a link that was put there. */
export function setMode(path: string, mode: number): void {
  const isLinux = process.platform === "linux";
  const descriptor = openSync(path, (isLinux ? linuxPath : constants.O_RDONLY) | (constants.O_NOFOLLOW ?? 0));
  try {
    if (isLinux) chmodSync(`/proc/self/fd/${descriptor}`, mode);
    else fchmodSync(descriptor, mode);
  } finally {
    closeSync(descriptor);
  }
}

/** Linux's O_PATH, which Node does not name: it can hold an entry that may not be read. */
const linuxPath = 0o10000000;
