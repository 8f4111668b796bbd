import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Absolute path that the repository's own configuration gives as `core.hooksPath`; undefined when it gives none. */
export function hooksDirectory(workspaceRoot: string): string | undefined {
  let section = "";
  let found: string | undefined;
  for (const line of configLines(join(workspaceRoot, ".git", "config"))) {
    const heading = /^\s*\[\s*([\w.-]+)\s*("?)/.exec(line);
    if (heading !== null) section = heading[2] === "" ? (heading[1] ?? "").toLowerCase() : "";
    const value = section === "core" ? /\bhookspath\s*=\s*(.*?)\s*$/i.exec(line)?.[1] : undefined;
    if (value !== undefined && value !== "") found = resolve(workspaceRoot, value.replace(/^"(.*)"$/, "$1"));
  }
  return found;
}

function configLines(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}
