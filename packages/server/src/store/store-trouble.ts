import { hasCode } from "../system-error.ts";
import { StoreError } from "./store-error.ts";

/**
 * What keeps a sound store from taking anything, and passes: no space is left, or whatever it lies in does not answer.
 * undefined for every other error.
 */
export function storeTrouble(error: unknown): "disk_full" | "unavailable" | undefined {
  if (hasCode(error, "ENOSPC") || hasCode(error, "EDQUOT")) return "disk_full";
  if (!(error instanceof StoreError)) return undefined;
  if (error.code === "disk_full") return "disk_full";
  return error.code === "busy" || error.code === "unavailable" ? "unavailable" : undefined;
}
