import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

const systemPlaces: readonly string[] =
  process.platform === "darwin"
    ? ["/opt/homebrew/bin", "/usr/local/bin", "/usr/bin"]
    : ["/usr/bin", "/usr/local/bin", "/run/current-system/sw/bin"];

/**
 * Absolute path of the git program, preferring the system's; undefined if there is none. Never one in a directory of packages,
 * which package scripts put first in `PATH` and a workspace can fill.
 */
export function findGit(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const searched = (environment["PATH"] ?? "").split(delimiter).filter((directory) => isAbsolute(directory));
  const names = process.platform === "win32" ? ["git.exe"] : ["git"];
  return [...systemPlaces, ...searched]
    .filter((directory) => !/[\\/]node_modules(?:[\\/]|$)/.test(directory))
    .flatMap((directory) => names.map((name) => join(directory, name)))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile() && !/[\\/]node_modules[\\/]/.test(realpathSync(path));
  } catch {
    return false;
  }
}
