import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";
import { directoriesOutside, isOutside } from "@gennai/machine/host/search-path";
import { realPath } from "@gennai/machine/host/way-to";

/**
 * Absolute path of a user's program, found by the server's own search path; never a program that a workspace can write or choose.
 *
 * @param places real paths of directories from which none is taken
 */
export function userProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  places: readonly string[],
): string | undefined {
  for (const directory of searchPath(environment, places)) {
    const program = realPath(join(directory, name));
    if (program !== undefined && isProgram(program) && isOutside(program, places)) return join(directory, name);
  }
  return undefined;
}

/**
 * The search path for the user's programs: without directories that a workspace can fill, and without shims, which start the
 * program that files of the workspace choose.
 *
 * @param places real paths
 */
export function searchPath(
  environment: Readonly<Record<string, string | undefined>>,
  places: readonly string[],
): readonly string[] {
  return directoriesOutside(environment["PATH"], places, shims);
}

const shims = /[\\/](?:shims|\.volta[\\/]bin)[\\/]?$/;

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
