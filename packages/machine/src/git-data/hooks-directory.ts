import { join, resolve } from "node:path";
import { fileText } from "./file-text.ts";
import { gitSettingsIn } from "./git-settings-in.ts";

/** Bytes: git itself reads larger ones, but no repository has one. */
const maxBytes = 64 * 1024 * 1024;

/** Absolute path of `core.hooksPath` in the repository's own configuration; undefined if it is not set. */
export function hooksDirectory(workspaceRoot: string): string | undefined {
  const settings = gitSettingsIn(fileText(join(workspaceRoot, ".git", "config"), maxBytes) ?? "");
  const value = settings.findLast((setting) => setting.name === "core.hookspath" && setting.value !== "")?.value;
  return value === undefined ? undefined : resolve(workspaceRoot, value);
}
