import { accessSync, chmodSync, constants, type Dirent, existsSync, lstatSync, readdirSync } from "node:fs";
import { systemErrorCode } from "../system-error.ts";
import { statIfPresent } from "./look-at-entry.ts";

/** Names in a directory of our own, which may be a link; none if there is none. */
export function namesInOwn(directory: string): readonly string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Names in a directory that others may have written; none if there is none, or a link or a file in its place. */
export function namesInReal(directory: string): readonly string[] {
  return statIfPresent(directory)?.isDirectory() === true ? readdirSync(directory) : [];
}

/** Entries of a directory; none if the system does not let this process read one there. */
export function readableEntries(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return [];
  }
}

export function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Lets this process, its owner, enter and change a directory. */
export function openDirectory(path: string): void {
  const mode = lstatSync(path).mode & 0o7777;
  if ((mode & 0o700) !== 0o700) chmodSync(path, mode | 0o700);
}
