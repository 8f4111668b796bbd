import { lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, relative } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import { isWithin } from "../../sandbox/host/host-layout.ts";
import type { KeyContext } from "../plan-key.ts";

const maxBytes = 256 * 1024;

/** Of a file of the user's; empty where there is none, and for one that is too large to be of settings. */
export function settingsText(file: string): string {
  try {
    return (statSync(file, { throwIfNoEntry: false })?.size ?? maxBytes) < maxBytes ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}

/**
 * Of a file in the workspace, which somebody else may have put there: undefined for what is not a plain file at its own path, or is
 * hidden from commands.
 *
 * @param path absolute
 */
export function seenFileText(
  path: string,
  { workspaceRoot, isHidden }: Pick<KeyContext, "workspaceRoot" | "isHidden">,
): string | undefined {
  try {
    if (!isWithin(path, workspaceRoot) || realpathSync(path) !== path) return undefined;
    for (let at = path; at !== workspaceRoot; at = dirname(at)) {
      if (secretPath(relative(workspaceRoot, at)) !== undefined || isHidden?.(at) === true) return undefined;
    }
    const stat = lstatSync(path);
    // By another name it may be hidden.
    return stat.isFile() && stat.nlink === 1 && stat.size < maxBytes ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
