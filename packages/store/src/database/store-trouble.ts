import { hasCode } from "@gennai/machine/system-error";
import { StoreError } from "./store-error.ts";

/**
 * Why an intact store cannot store anything; the cause may pass or can be repaired: no space left, its disk is read-only or
 * broken, too many open files in the process, or its server does not answer. Undefined for every other error.
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
