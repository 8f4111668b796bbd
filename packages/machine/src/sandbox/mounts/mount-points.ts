import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { isRunning, thisOwner } from "../../process/locks/journal-owner.ts";
import { hasCode } from "../../system-error.ts";
import { holdRealDirectory } from "../../workspace/files/held-directory.ts";

export interface AbsentPaths {
  readonly directories: readonly string[];
  readonly files: readonly string[];
}

/**
 * Empty files and directories that exist in a workspace only as mount points while commands run. The last command removes them;
 * those of a dead process are removed at the next start. The claim on a working tree ensures that only one process runs commands
 * in it.
 */
export class MountPoints {
  readonly #directory: string;
  readonly #users = new Map<string, number>();

  /** @param directory of journals, private */
  constructor(directory: string) {
    this.#directory = directory;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(directory)) {
      const owner = /^(.+)\.json$/.exec(name)?.[1];
      if (owner === undefined || isRunning(owner)) continue;
      for (const path of pathsIn(join(directory, name))) removeMountPoint(path);
      rmSync(join(directory, name), { force: true });
    }
  }

  /** Whether a path exists only as a mount point. */
  isOurs(path: string): boolean {
    return this.#users.has(path);
  }

  /** Creates the missing mount points. Dispose the result when the command has ended. */
  take(absent: AbsentPaths): Disposable {
    const paths = [...absent.directories, ...absent.files];
    const fresh = paths.filter((path) => !this.#users.has(path));
    for (const path of paths) this.#users.set(path, (this.#users.get(path) ?? 0) + 1);
    // Before they are created, so that a crash in between leaves no unknown mount point.
    if (fresh.length > 0) this.#writeJournal();
    let released = false;
    const release = (): void => {
      if (released) return;
      released = true;
      this.#release(paths);
    };
    try {
      for (const path of absent.directories) if (fresh.includes(path)) makeDirectory(path);
      for (const path of absent.files) if (fresh.includes(path)) makeFile(path);
    } catch (error) {
      release();
      throw error;
    }
    return { [Symbol.dispose]: release };
  }

  #release(paths: readonly string[]): void {
    let changed = false;
    for (const path of paths) {
      const left = (this.#users.get(path) ?? 1) - 1;
      if (left > 0) this.#users.set(path, left);
      else {
        this.#users.delete(path);
        removeMountPoint(path);
        changed = true;
      }
    }
    if (changed) this.#writeJournal();
  }

  #writeJournal(): void {
    const file = join(this.#directory, `${thisOwner()}.json`);
    if (this.#users.size === 0) rmSync(file, { force: true });
    else writeFileSync(file, JSON.stringify([...this.#users.keys()]), { mode: 0o600 });
  }
}

/** Uses a held directory, like everything here: creates nothing through a link that replaced a workspace. */
function makeDirectory(path: string): void {
  using parent = holdRealDirectory(dirname(path), []);
  mkdirSync(parent.entry(basename(path)), { mode: 0o755 });
}

function makeFile(path: string): void {
  using parent = holdRealDirectory(dirname(path), []);
  closeSync(openSync(parent.entry(basename(path)), "wx", 0o644));
}

/** Removes a mount point if it is still empty. */
function removeMountPoint(path: string): void {
  try {
    using parent = holdRealDirectory(dirname(path), []);
    const entry = parent.entry(basename(path));
    const stat = lstatSync(entry, { throwIfNoEntry: false });
    if (stat?.isDirectory()) rmdirSync(entry);
    else if (stat?.isFile() && stat.size === 0) unlinkSync(entry);
  } catch (error) {
    // The workspace is gone, or something else is in its place.
    if (hasCode(error, "path_changed") || hasCode(error, "ENOTDIR")) return;
    if (!hasCode(error, "ENOTEMPTY") && !hasCode(error, "ENOENT") && !hasCode(error, "EROFS")) throw error;
  }
}

const journalSchema = z.array(z.string());

function pathsIn(journal: string): readonly string[] {
  try {
    return journalSchema.parse(JSON.parse(readFileSync(journal, "utf8")));
  } catch {
    return [];
  }
}
