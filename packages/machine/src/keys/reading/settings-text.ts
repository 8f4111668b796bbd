import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, relative } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { isWithin } from "@gennai/protocol/is-within";

import type { KeyContext } from "../plan-key.ts";

const maxBytes = 256 * 1024;

/** Text of a user's file; empty if it does not exist, or is too large for settings. */
export function settingsText(file: string): string {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? maxBytes) < maxBytes ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

/**
 * Text of a workspace file, which is untrusted: undefined if it is no regular file at its own path, or is hidden from commands.
 *
 * @param path absolute
 */
export function seenFileText(
  path: string,
  { workspaceRoot, isHidden }: Pick<KeyContext, "workspaceRoot" | "isHidden">,
): string | undefined {
  try {
    if (!isWithin(path, { directory: workspaceRoot }) || realpathSync(path) !== path) return undefined;
    for (let at = path; at !== workspaceRoot; at = dirname(at)) {
      if (secretPath(relative(workspaceRoot, at)) !== undefined || isHidden?.(at) === true) return undefined;
    }
    const stat = lstatSync(path);
    // Under another name the file may be hidden.
    return stat.isFile() && stat.nlink === 1 && stat.size < maxBytes ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
