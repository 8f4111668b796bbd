import { lstatSync, readFileSync, statSync } from "node:fs";

const maxBytes = 256 * 1024;

/** Of a file of the user's; empty where there is none, and for one that is too large to be of settings. */
export function settingsText(file: string): string {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? maxBytes) < maxBytes ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

/** Of a file in the workspace, which somebody else may have put there: undefined for what is no plain file. */
export function plainFileText(file: string): string | undefined {
  try {
    const stat = lstatSync(file, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size < maxBytes ? readFileSync(file, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
