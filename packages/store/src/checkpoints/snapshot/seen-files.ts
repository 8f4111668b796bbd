import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTick } from "node:timers/promises";
import { type FileStamp, isSameStamp, isSettled, stampOf } from "./file-stamp.ts";
import { atOnce, isOurs, maxFileBytes, maxIgnoredBytes } from "./kept-paths.ts";
import { type GitObject, gitObject } from "./loose-objects.ts";
import type { TreeEntry } from "./tree-objects.ts";

/** What a snapshot saw on the disk. Paths are relative to the workspace. */
export interface SeenTree {
  /** Time at which it began to look. Milliseconds since the epoch. */
  readonly time: number;
  /** Every path it looked at, with what was there. */
  readonly stamps: ReadonlyMap<string, FileStamp>;
  /** The kept ones of these paths. */
  readonly entries: ReadonlyMap<string, TreeEntry>;
  /** The ignored ones of these paths. */
  readonly ignored: ReadonlySet<string>;
  /** Directories of which only tracked files are kept. */
  readonly passedOver: ReadonlySet<string>;
}

/** A file that differs from its last seen state. */
export interface SeenChange {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  /** Undefined if it is gone. */
  readonly after: TreeEntry | undefined;
  readonly object: GitObject | undefined;
}

interface SeenFile {
  stamp: FileStamp | undefined;
  /** True if a further change must show in the stamp. */
  settled: boolean;
  entry: TreeEntry | undefined;
  /** False if it was too large or could not be read. */
  readonly isKept: boolean;
  readonly limit: number;
}

interface SeenDirectory {
  stamp: FileStamp | undefined;
  settled: boolean;
  /** Names that the ignore rules were asked about, and whether each was a directory; undefined if they do not matter. */
  readonly names: ReadonlyMap<string, boolean> | undefined;
}

/** With more files and directories, nothing is remembered: looking at each would take as long as asking git. */
const maxFiles = 50_000;
const maxDirectories = 20_000;
/** Most bytes read again in one look; git reads larger amounts. */
const maxBytesRead = 64 * 1024 * 1024;
const maxFilesRead = 3_000;
/**
 * What the last snapshot saw, so that the next one only looks at files whose stamp has changed. It trusts a stamp only if the
 * file was touched well before the look, and reads other files again. If the answer depends on the ignore rules, it reports that
 * it does not know.
 */
export class SeenFiles {
  readonly #root: string;
  readonly #files: ReadonlyMap<string, SeenFile>;
  readonly #directories: ReadonlyMap<string, SeenDirectory>;
  /** Kept until one of them changes, because gathering them takes a tenth of a look. */
  #modes: ReadonlyMap<string, number> | undefined;

  private constructor(
    root: string,
    files: ReadonlyMap<string, SeenFile>,
    directories: ReadonlyMap<string, SeenDirectory>,
  ) {
    this.#root = root;
    this.#files = files;
    this.#directories = directories;
  }

  /** Undefined if the tree is too large, or changes during the look. */
  static async remember(root: string, seen: SeenTree, signal?: AbortSignal): Promise<SeenFiles | undefined> {
    if (seen.stamps.size > maxFiles) return undefined;
    const files = new Map<string, SeenFile>();
    for (const [path, stamp] of seen.stamps) {
      const entry = seen.entries.get(path);
      // There are more small ignored files than are kept, so that others may be kept next time.
      if (entry === undefined && seen.ignored.has(path) && stamp.size <= maxIgnoredBytes) return undefined;
      files.set(path, {
        stamp,
        entry,
        settled: isSettled(stamp, seen.time),
        isKept: entry !== undefined,
        limit: entry === undefined && seen.ignored.has(path) ? maxIgnoredBytes : maxFileBytes,
      });
    }
    for (const path of seen.entries.keys()) if (!files.has(path)) return undefined;
    const directories = await seenDirectories(root, seen, signal);
    return directories === undefined ? undefined : new SeenFiles(root, files, directories);
  }

  /** The changes since the last look, by path; undefined if only git can tell, now and from now on. */
  async look(signal?: AbortSignal): Promise<readonly SeenChange[] | undefined> {
    const time = Date.now();
    const changes: SeenChange[] = [];
    const read = { bytes: 0, files: 0 };
    let looked = 0;
    for (const [path, directory] of this.#directories) {
      if (++looked % atOnce === 0) await breathe(signal);
      if (!this.#lookAtDirectory(path, directory, time)) return undefined;
    }
    for (const [path, file] of this.#files) {
      if (++looked % atOnce === 0) await breathe(signal);
      const stat = statOf(this.#full(path));
      if (file.settled && file.stamp !== undefined && stat !== undefined && isSameStamp(file.stamp, stat)) continue;
      if (stat === undefined && file.stamp === undefined) continue;
      const mode = keptMode(file);
      const change = this.#lookAtFile(path, file, stat, { time, read });
      if (keptMode(file) !== mode) this.#modes = undefined;
      if (change === "unknown") return undefined;
      if (change !== undefined) changes.push(change);
    }
    return changes.sort((one, other) => (one.path < other.path ? -1 : 1));
  }

  /** Permission bits of every regular file that is kept; the same object as long as none changes. */
  modes(): ReadonlyMap<string, number> {
    if (this.#modes !== undefined) return this.#modes;
    const modes = new Map<string, number>();
    for (const [path, file] of this.#files) {
      const mode = keptMode(file);
      if (mode !== undefined) modes.set(path, mode);
    }
    return (this.#modes = modes);
  }

  /** Does not use `join`, which would take a quarter of a look: the path is already normalised. */
  #full(path: string): string {
    return path === "" ? this.#root : `${this.#root}/${path}`;
  }

  /** False if it is no directory any more, or has new entries. Missing entries are noticed when its files are looked at. */
  #lookAtDirectory(path: string, directory: SeenDirectory, time: number): boolean {
    const full = this.#full(path);
    const stat = statOf(full);
    if (stat === undefined) {
      directory.stamp = undefined;
      return true;
    }
    if (!stat.isDirectory()) return false;
    if (directory.settled && directory.stamp !== undefined && isSameStamp(directory.stamp, stat)) return true;
    directory.stamp = stampOf(stat);
    directory.settled = isSettled(stat, time);
    const { names } = directory;
    return names === undefined || namesIn(full, path)?.every(([name, is]) => names.get(name) === is) === true;
  }

  #lookAtFile(
    path: string,
    file: SeenFile,
    stat: Stats | undefined,
    { time, read }: { readonly time: number; readonly read: { bytes: number; files: number } },
  ): SeenChange | undefined | "unknown" {
    const before = file.entry;
    const fits = stat?.isSymbolicLink() === true || (stat?.isFile() === true && stat.size <= file.limit);
    if (!file.isKept) {
      const isSame = stat !== undefined && file.stamp !== undefined && isSameStamp(file.stamp, stat);
      if (stat === undefined || (fits && !isSame)) return "unknown";
      file.stamp = stampOf(stat);
      return undefined;
    }
    if (stat === undefined) {
      file.stamp = undefined;
      file.entry = undefined;
      if (before === undefined) return undefined;
      return holdsRules(path) ? "unknown" : { path, before, after: undefined, object: undefined };
    }
    read.files += 1;
    read.bytes += stat.size;
    if (!fits || read.files > maxFilesRead || read.bytes > maxBytesRead) return "unknown";
    const content = contentOf(this.#full(path), stat);
    if (content === undefined) return "unknown";
    const object = gitObject("blob", content.bytes);
    const mode = gitMode(content.stat);
    file.stamp = stampOf(content.stat);
    file.settled = isSettled(content.stat, time);
    if (before?.object === object.id && before.mode === mode) return undefined;
    if (holdsRules(path)) return "unknown";
    file.entry = { mode, object: object.id };
    return { path, before, after: file.entry, object };
  }
}

const linkMode = "120000";

/** Permission bits; undefined unless it is a regular file that is kept. */
function keptMode({ entry, stamp }: SeenFile): number | undefined {
  return entry === undefined || entry.mode === linkMode || stamp === undefined ? undefined : stamp.mode & 0o777;
}

/** A file whose content decides what else is kept. */
function holdsRules(path: string): boolean {
  return basename(path) === ".gitignore";
}

function gitMode(stat: Stats): string {
  if (stat.isSymbolicLink()) return linkMode;
  return (stat.mode & 0o100) === 0 ? "100644" : "100755";
}

/** Undefined if the file has changed, or cannot be read. */
function contentOf(full: string, stat: Stats): { readonly bytes: Buffer; readonly stat: Stats } | undefined {
  try {
    if (stat.isSymbolicLink()) return { bytes: readlinkSync(full, { encoding: "buffer" }), stat };
    const descriptor = openSync(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const opened = fstatSync(descriptor);
      if (!opened.isFile() || opened.size > maxFileBytes) return undefined;
      return { bytes: readFileSync(descriptor), stat: opened };
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
}

/** Undefined if nothing is there, or it cannot be looked at. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Every directory in which a new entry must be noticed, and the directories above kept files. */
async function seenDirectories(
  root: string,
  { time, stamps, entries, passedOver }: SeenTree,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, SeenDirectory> | undefined> {
  const found = new Map<string, SeenDirectory>();
  const waiting = [""];
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (found.size >= maxDirectories) return undefined;
    if (found.size % atOnce === atOnce - 1) await breathe(signal);
    const stat = statOf(join(root, path));
    const names = stat?.isDirectory() === true ? namesIn(join(root, path), path) : undefined;
    if (stat === undefined || names === undefined) return undefined;
    found.set(path, { stamp: stampOf(stat), settled: isSettled(stat, time), names: new Map(names) });
    for (const [name, isDirectory] of names) {
      const below = path === "" ? name : `${path}/${name}`;
      if (isDirectory && !passedOver.has(below)) waiting.push(below);
      // It did not exist when git listed the files.
      if (!isDirectory && !stamps.has(below)) return undefined;
    }
  }
  for (const path of entries.keys()) {
    for (let above = dirname(path); above !== "." && !found.has(above); above = dirname(above)) {
      found.set(above, { stamp: undefined, settled: false, names: undefined });
    }
  }
  return found;
}

/** Names, and whether each is a directory. Undefined if the directory cannot be read. */
function namesIn(full: string, path: string): readonly (readonly [name: string, isDirectory: boolean])[] | undefined {
  try {
    return readdirSync(full, { withFileTypes: true }).flatMap((entry) => {
      const { name } = entry;
      const isDirectory = entry.isDirectory();
      // Snapshots do not keep names that are not UTF-8, and entries that are neither file nor link.
      const matters = isDirectory || entry.isFile() || entry.isSymbolicLink();
      if (!matters || name.includes("\ufffd") || isOurs(path === "" ? name : `${path}/${name}`)) return [];
      return path === "" && name === ".git" ? [] : [[name, isDirectory] as const];
    });
  } catch {
    return undefined;
  }
}

async function breathe(signal: AbortSignal | undefined): Promise<void> {
  await nextTick();
  signal?.throwIfAborted();
}
