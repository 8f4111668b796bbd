import { type BigIntStats, lstatSync } from "node:fs";
import { systemErrorCode } from "./system-error.ts";

/**
 * The entry at a path, without following a link. Undefined if there is none, also because a parent is no directory: a command
 * may have put a file there. Throws other system errors.
 */
export function entryAt(path: string): BigIntStats | undefined {
  try {
    // An error takes ten times as long as a look.
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (nothing.has(systemErrorCode(error) ?? "")) return undefined;
    throw error;
  }
}

const nothing: ReadonlySet<string> = new Set(["ENOTDIR", "ELOOP"]);
