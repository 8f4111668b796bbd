import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorMessage } from "@gennai/protocol/error-message";
import { entryAt } from "../../entry-at.ts";
import { hasCode } from "../../system-error.ts";

const chunkBytes = 1024 * 1024;
/** Maximum for what one command left: copying blocks the server. */
const maxCopiedBytes = 64 * 1024 * 1024;
/** Bytes counted for each name, however small the entry. */
const entryBytes = 4096;

/** Private directory for what was moved out of the way when a command's changes were put back. */
export class Aside {
  /** Absolute path. Created when something is moved there. */
  readonly directory: string;
  readonly #rename: typeof renameSync;
  readonly #room: { bytes: number };

  /** @param options for tests */
  constructor(
    directory: string,
    {
      rename = renameSync,
      maxCopied = maxCopiedBytes,
    }: { readonly rename?: typeof renameSync; readonly maxCopied?: number } = {},
  ) {
    this.directory = directory;
    this.#rename = rename;
    this.#room = { bytes: maxCopied };
  }

  /**
   * Moves a file, link or directory into the private directory, next to anything of that name there. If it cannot be renamed,
   * because it is on another device or that is not permitted, it is copied, compared, and only then removed. What cannot be
   * copied completely, or is too large, is renamed in the tree's top directory to a name that no tool obeys. Throws if it has to
   * stay.
   *
   * @param name relative path in the private directory
   * @param top the tree's top directory, on the same device
   * @returns its name in the top directory; undefined if it was moved aside
   */
  take(from: string, { name, top }: { readonly name: string; readonly top: string }): string | undefined {
    const wanted = join(this.directory, name);
    try {
      mkdirSync(dirname(wanted), { recursive: true, mode: 0o700 });
      const target = freeName(wanted);
      try {
        this.#rename(from, target);
      } catch (error) {
        if (!["EXDEV", "EACCES", "EPERM"].some((code) => hasCode(error, code))) throw error;
        this.#copy(from, target);
        rmSync(from, { recursive: true });
      }
      return undefined;
    } catch (error) {
      return stayIn(top, from, error);
    }
  }

  #copy(from: string, target: string): void {
    try {
      copy(from, target, this.#room);
    } catch (error) {
      rmSync(target, { recursive: true, force: true });
      throw error;
    }
  }
}

/** @returns the entry's new name in the top directory */
function stayIn(top: string, from: string, cause: unknown): string {
  const path = freeName(join(top, `put-back-${Date.now()}`));
  try {
    renameSync(from, path);
    // Closed, because tools could obey what lies in the directory by its own name.
    if (lstatSync(path).isDirectory()) chmodSync(path, 0);
    return basename(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw error;
    throw new Error(`it could not be moved out of the way, and stays where it is: ${errorMessage(cause)}`, { cause });
  }
}

function freeName(wanted: string): string {
  for (let count = 0; ; count += 1) {
    const path = count === 0 ? wanted : join(dirname(wanted), `${basename(wanted)}.${count}`);
    if (entryAt(path) === undefined) return path;
  }
}

/** Copies without following links. Does not rely on the modes of the owner's own files and directories. */
function copy(from: string, to: string, room: { bytes: number }): void {
  const stat = lstatSync(from);
  take(room, entryBytes);
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (stat.isDirectory()) {
    letIn(from, stat, 0o700);
    mkdirSync(to, { mode: 0o700 });
    for (const name of readdirSync(from, { encoding: "buffer" })) {
      const text = name.toString("utf8");
      if (Buffer.compare(Buffer.from(text), name) !== 0) throw new Error(`a name in ${from} is not UTF-8`);
      copy(join(from, text), join(to, text), room);
    }
  } else if (stat.isFile()) {
    take(room, stat.size);
    letIn(from, stat, 0o400);
    copyFile(from, to, { mode: 0o600 | (stat.mode & 0o100), size: stat.size });
  }
  // Pipes and sockets hold nothing to copy.
}

function take(room: { bytes: number }, bytes: number): void {
  if (bytes > room.bytes) throw new Error("it is too much to be copied");
  room.bytes -= bytes;
}

function letIn(path: string, { mode, uid }: Stats, needed: number): void {
  if ((mode & needed) !== needed && uid === process.geteuid?.()) chmodSync(path, (mode & 0o7777) | needed);
}

function copyFile(from: string, to: string, { mode, size }: { readonly mode: number; readonly size: number }): void {
  const source = openSync(from, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const target = openSync(to, "wx+", mode);
    try {
      let at = 0;
      for (const chunk of chunksOf(source)) {
        if (at + chunk.length > size) throw new Error(`${from} grows`);
        at += writeWhole(target, chunk, at);
      }
      fsyncSync(target);
      compare(source, target);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

function* chunksOf(descriptor: number): Generator<Uint8Array, void, undefined> {
  const buffer = Buffer.alloc(chunkBytes);
  for (let at = 0; ; ) {
    const count = readSync(descriptor, buffer, 0, chunkBytes, at);
    if (count === 0) return;
    yield buffer.subarray(0, count);
    at += count;
  }
}

function writeWhole(descriptor: number, bytes: Uint8Array, at: number): number {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done);
  }
  return bytes.length;
}

/** Throws if two files differ. */
function compare(one: number, other: number): void {
  const others = chunksOf(other);
  for (const chunk of chunksOf(one)) {
    const same = others.next().value;
    if (same === undefined || Buffer.compare(chunk, same) !== 0) throw new Error("the copy is not the same");
  }
  if (others.next().done !== true) throw new Error("the copy is longer");
}
