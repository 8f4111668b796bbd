import { isWithin } from "@gennai/protocol/is-within";

/** Directories of the system for files of no lasting worth. */
export const temporaryDirectories: readonly string[] = ["/tmp", "/var/tmp", "/private/tmp", "/var/folders"];

/** Strictly below a temporary directory, never the directory itself. */
export function isTemporary(absolute: string): boolean {
  return temporaryDirectories.some((directory) => absolute !== directory && isWithin(absolute, { directory }));
}
