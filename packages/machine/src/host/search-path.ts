import { delimiter, isAbsolute } from "node:path";
import { isWithin } from "@gennai/protocol/is-within";
import { realPath } from "./way-to.ts";

/** Directories of programs if `PATH` is not set. */
const usualPath: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

/**
 * Directories of a search path that no workspace can fill, as written: by their real paths, outside of the given places and of
 * packages. Leaves out missing directories, because a command could create them. If none is left, returns the usual ones, because
 * with an empty path, a shell searches its working directory.
 *
 * @param path value of `PATH`
 * @param places real paths
 * @param unwanted further directories to leave out
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
  return !/[\\/]node_modules(?:[\\/]|$)/.test(path) && !places.some((place) => isWithin(path, { directory: place }));
}
