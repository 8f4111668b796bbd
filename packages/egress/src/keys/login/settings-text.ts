import { readFileSync, statSync } from "node:fs";

const maxBytes = 256 * 1024;

/** Text of a user's file; empty if it does not exist, or is too large for settings. */
export function settingsText(file: string): string {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? maxBytes) < maxBytes ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}
