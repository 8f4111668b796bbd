import { existsSync, realpathSync } from "node:fs";
import { machineGit } from "./run/machine-git.ts";
import { readWhole } from "./run/read-whole.ts";
import { openGit } from "./run/run-git.ts";

/**
 * Which of the paths have a filter by the repository's attributes or the user's own: git-crypt and LFS are such. What they would make of a file before it is
 * committed is made by a program, and nothing that a repository names is started here.
 * @param directory absolute path in a repository
 * @param paths relative to it, with `/`
 */
export async function filteredPaths(directory: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const { attributesFile } = await (await machineGit()).userConfiguration(directory);
  const ofUser = existsSync(attributesFile) ? realpathSync(attributesFile) : undefined;
  const settings = ofUser === undefined ? [] : ["-c", `core.attributesFile=${ofUser}`];
  const running = await openGit([...settings, "check-attr", "-z", "--stdin", "filter"], {
    directory,
    alsoReads: ofUser,
  });
  running.stdin.on("error", () => {
    // Git ended before it read all its input; its exit code says why.
  });
  running.stdin.end(paths.map((path) => `${path}\0`).join(""));
  const { code, output, errors } = await readWhole(running);
  if (code !== 0) throw new Error(`git check-attr failed: ${errors.slice(0, 300)}`);
  const words = output.toString("utf8").split("\0");
  const filtered = new Set<string>();
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [path = "", , value = ""] = words.slice(at, at + 3);
    if (!noFilter.has(value)) filtered.add(path);
  }
  return filtered;
}

/** Values of the attribute that do not name a filter. */
const noFilter: ReadonlySet<string> = new Set(["unspecified", "unset", "set"]);
