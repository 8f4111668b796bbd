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
import { hasCode } from "../system-error.ts";

const chunkBytes = 1024 * 1024;

/**
 * Moves a file, link or directory into a private place, whose directories are made; beside what is there of that name. Where it
 * cannot be renamed, because that is on another device or not permitted, it is copied, compared, and only then removed. Throws,
 * and leaves it where it is, when the copy is not whole.
 *
 * @param rename for tests
 */
export function moveAside(from: string, wanted: string, rename: typeof renameSync = renameSync): void {
  mkdirSync(dirname(wanted), { recursive: true, mode: 0o700 });
  const target = freeName(wanted);
  try {
    rename(from, target);
    return;
  } catch (error) {
    if (!["EXDEV", "EACCES", "EPERM"].some((code) => hasCode(error, code))) throw error;
  }
  try {
    copy(from, target);
  } catch (cause) {
    rmSync(target, { recursive: true, force: true });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`it could not be copied to ${dirname(wanted)}, and stays where it is: ${why}`, { cause });
  }
  try {
    rmSync(from, { recursive: true });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`it was copied to ${target} and could not be removed: ${why}`, { cause });
  }
}

function freeName(wanted: string): string {
  for (let count = 0; ; count += 1) {
    const path = count === 0 ? wanted : join(dirname(wanted), `${basename(wanted)}.${count}`);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return path;
  }
}

/** Follows no link. Modes of the owner's own files and directories keep nobody out. */
function copy(from: string, to: string): void {
  const stat = lstatSync(from);
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (stat.isDirectory()) {
    letIn(from, stat, 0o700);
    mkdirSync(to, { mode: 0o700 });
    for (const name of readdirSync(from, { encoding: "buffer" })) {
      const text = name.toString("utf8");
      if (Buffer.compare(Buffer.from(text), name) !== 0) throw new Error(`a name in ${from} is no UTF-8`);
      copy(join(from, text), join(to, text));
    }
  } else if (stat.isFile()) {
    letIn(from, stat, 0o400);
    copyFile(from, to, 0o600 | (stat.mode & 0o100));
  }
  // Pipes and sockets hold nothing.
}

function letIn(path: string, { mode, uid }: Stats, needed: number): void {
  if ((mode & needed) !== needed && uid === process.geteuid?.()) chmodSync(path, (mode & 0o7777) | needed);
}

function copyFile(from: string, to: string, mode: number): void {
  const source = openSync(from, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const target = openSync(to, "wx+", mode);
    try {
      let at = 0;
      for (const chunk of chunksOf(source)) at += writeWhole(target, chunk, at);
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

/** Throws where two files differ. */
function compare(one: number, other: number): void {
  const others = chunksOf(other);
  for (const chunk of chunksOf(one)) {
    const same = others.next().value;
    if (same === undefined || Buffer.compare(chunk, same) !== 0) throw new Error("the copy is not the same");
  }
  if (others.next().done !== true) throw new Error("the copy is longer");
}
