import type { FileChangeRecord } from "@gennai/agent/events/proposal";

/**
 * Which contents of a file may hold the user's work, if it is now as said: that one alone if the session did not write it;
 * otherwise what the session found, and what it left since. Undefined if the session made the file.
 */
export function usersContents(
  changeSets: Iterable<{ readonly files: readonly FileChangeRecord[]; readonly undone: boolean }>,
  path: string,
  sha256: string,
): readonly string[] | undefined {
  let contents: (string | undefined)[] = [];
  for (const { files, undone } of changeSets) {
    for (const file of undone ? [] : files) {
      if (file.path !== path) continue;
      // Somebody else changed it meanwhile, and that is in it too.
      if (file.beforeSha256 !== contents.at(-1)) contents = [];
      contents.push(...(contents.length === 0 ? [file.beforeSha256] : []), file.afterSha256);
    }
  }
  if (contents.at(-1) !== sha256) return [sha256];
  return contents[0] === undefined ? undefined : contents.filter((content) => content !== undefined);
}
