import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
import { basename } from "node:path";
import { ledgerDirectory } from "@gennai/governance/ledger/ledger-directory";
import { hasCode } from "@gennai/machine/system-error";
import { type HeldDirectory, holdRealDirectory } from "@gennai/machine/workspace/files/held-directory";
import { areOfOthers, type IsOurs } from "./chain-of-others.ts";
import { usualLedgerFileName } from "./ledger-file-name.ts";

/**
 * Limit for the content before Gennai's records; larger files are left to the mirror, which keeps a copy and starts a new one.
 */
const maxPreamble = 64 * 1024 * 1024;

/** The path of a workspace's ledger is not a plain file of its own: nothing is written there. */
export class UnsafeLedgerPath extends Error {
  override readonly name = "UnsafeLedgerPath";
  readonly code = "unsafe_ledger_path";
}

const noFollow = constants.O_NOFOLLOW ?? 0;
// Opening a FIFO must not block.
const nonBlocking = constants.O_NONBLOCK ?? 0;

/**
 * Opens a ledger's file without following any link, so that no workspace, and nothing that replaced one, can redirect it. `write`
 * creates directory and file. Rejects with `UnsafeLedgerPath` or the file system's error.
 */
export async function openLedgerFile(
  workspaceRoot: string,
  access: "read" | "write",
  name = usualLedgerFileName,
): Promise<FileHandle> {
  using directory = holdLedgerDirectory(workspaceRoot, { create: access === "write" });
  const flags = access === "read" ? constants.O_RDONLY : constants.O_RDWR | constants.O_CREAT;
  directory.check();
  if (access === "write") leaveOut(directory);
  return await openPlainFile(directory.entry(name), flags);
}

/**
 * Keeps ledgers out of commits, where branches would reset them, and out of packages: npm reads such files too.
 * https://docs.npmjs.com/cli/v11/using-npm/developers#keeping-files-out-of-your-package
 */
function leaveOut(directory: HeldDirectory): void {
  try {
    writeFileSync(directory.entry(".gitignore"), ".gitignore\nagent_trace*.jsonl\n", { flag: "wx", mode: 0o644 });
  } catch (error) {
    // The user's own rules stay.
    if (!hasCode(error, "EEXIST")) throw error;
  }
}

/**
 * The present bytes of the usual file, with a line break at the end; empty if there is no regular file, or if it is another
 * state directory's ledger. Synchronous: used only once, when a ledger begins.
 */
export function readPreamble(workspaceRoot: string, isOurs: IsOurs): Uint8Array {
  let descriptor: number;
  try {
    using directory = holdLedgerDirectory(workspaceRoot, { create: false });
    descriptor = openSync(directory.entry(usualLedgerFileName), constants.O_RDONLY | noFollow | nonBlocking);
  } catch {
    return new Uint8Array();
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile() || status.size > maxPreamble) return new Uint8Array();
    const bytes = readFileSync(descriptor);
    return areOfOthers(bytes, isOurs) ? new Uint8Array() : wholeLines(bytes);
  } finally {
    closeSync(descriptor);
  }
}

function holdLedgerDirectory(workspaceRoot: string, options: { readonly create: boolean }): HeldDirectory {
  try {
    return holdRealDirectory(workspaceRoot, [ledgerDirectory], options);
  } catch (error) {
    if (hasCode(error, "path_changed") || hasCode(error, "ENOTDIR") || hasCode(error, "ELOOP")) {
      const message = `${workspaceRoot} or ${ledgerDirectory} in it is not a directory of its own, but leads elsewhere.`;
      throw new UnsafeLedgerPath(message, { cause: error });
    }
    throw error;
  }
}

/** Ends with a line break, so that records follow on their own lines. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 || bytes.at(-1) === 10 ? bytes : Buffer.concat([bytes, Buffer.from("\n")]);
}

async function openPlainFile(path: string, flags: number): Promise<FileHandle> {
  const handle = await openRefusingLinks(path, flags | nonBlocking);
  try {
    const status = await handle.stat();
    if (!status.isFile()) throw new UnsafeLedgerPath(`${basename(path)} is not a regular file.`);
    // A write would also change the file under its other name.
    if (status.nlink > 1) throw new UnsafeLedgerPath(`${basename(path)} is a hard link to another file.`);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openRefusingLinks(path: string, flags: number): Promise<FileHandle> {
  try {
    if (noFollow === 0 && (await isLink(path))) throw new UnsafeLedgerPath(`${path} is a symbolic link.`);
    return await open(path, flags | noFollow, 0o644);
  } catch (error) {
    if (hasCode(error, "ELOOP") || hasCode(error, "ENOTDIR")) {
      throw new UnsafeLedgerPath(`${basename(path)} or its directory is a symbolic link.`, { cause: error });
    }
    if (hasCode(error, "EISDIR") || hasCode(error, "ENXIO")) {
      throw new UnsafeLedgerPath(`${basename(path)} is not a regular file.`, { cause: error });
    }
    throw error;
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}
