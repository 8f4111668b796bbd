import { type BigIntStats, lstatSync } from "node:fs";
import { systemErrorCode } from "./system-error.ts";

/**
 * What stands at a path, a link as itself. Undefined where nothing does, also because something else stands where a directory
 * would have to: a command may have put a file there. Throws other system errors.
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
