import { hasCode } from "@gennai/machine/system-error";
import { StoreError } from "./store-error.ts";

/**
 * What keeps a sound store from taking anything, and passes or can be mended: no space is left, its disk is read-only or broken,
 * the process has too many files open, or whatever it lies in does not answer. undefined for every other error.
 */
export type StoreTrouble = "disk_full" | "disk_read_only" | "disk_failed" | "too_many_files" | "unavailable";

export function storeTrouble(error: unknown): StoreTrouble | undefined {
  for (const [code, trouble] of systemErrors) if (hasCode(error, code)) return trouble;
  if (!(error instanceof StoreError)) return undefined;
  switch (error.code) {
    case "disk_full":
      return "disk_full";
    case "read_only":
      return "disk_read_only";
    case "io":
      return "disk_failed";
    case "busy":
    case "unavailable":
      return "unavailable";
    default:
      return undefined;
  }
}

const systemErrors: readonly (readonly [code: string, trouble: StoreTrouble])[] = [
  ["ENOSPC", "disk_full"],
  ["EDQUOT", "disk_full"],
  ["EROFS", "disk_read_only"],
  ["EIO", "disk_failed"],
  ["EMFILE", "too_many_files"],
  ["ENFILE", "too_many_files"],
];
