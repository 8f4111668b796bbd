import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gitSettingsIn } from "./git-settings-in.ts";

/** Absolute path of `core.hooksPath` in the repository's own configuration; undefined if it is not set. */
export function hooksDirectory(workspaceRoot: string): string | undefined {
  const settings = gitSettingsIn(configuration(join(workspaceRoot, ".git", "config")));
  const value = settings.findLast((setting) => setting.name === "core.hookspath" && setting.value !== "")?.value;
  return value === undefined ? undefined : resolve(workspaceRoot, value);
}

function configuration(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
