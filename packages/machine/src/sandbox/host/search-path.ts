import { realpathSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";
import { isWithin } from "./host-layout.ts";

/** Where programs are looked for when nobody says it. */
const usualPath: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/**
 * Directories of a search path that no workspace can fill, as they are written: by where they really lead, neither in one of
 * some places nor of packages. One that is not there is left out, since a command could make it. Where nothing is left they are
 * the usual ones: with an empty path, a shell looks where it stands.
 *
 * @param path as `PATH` has it
 * @param places real paths
 * @param unwanted directories that are left out besides
 */
export function directoriesOutside(
  path: string | undefined,
  places: readonly string[],
  unwanted?: RegExp,
): readonly string[] {
  const found = path?.split(delimiter).filter((directory) => {
    const real = isAbsolute(directory) ? realPath(directory) : undefined;
    return (
      real !== undefined && [directory, real].every((each) => isOutside(each, places) && unwanted?.test(each) !== true)
    );
  });
  return found === undefined || found.length === 0 ? usualPath : found;
}

/** @param path absolute */
export function isOutside(path: string, places: readonly string[]): boolean {
  return !/[\\/]node_modules(?:[\\/]|$)/.test(path) && !places.some((place) => isWithin(path, place));
}

/** undefined for what is not there. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
