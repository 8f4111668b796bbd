import { readWhole } from "./run/read-whole.ts";
import { openGit } from "./run/run-git.ts";

/**
 * Which of the paths git's rules leave out, as the rules are now. Nothing is looked at but names.
 * @param directory absolute path in a repository
 * @param paths relative to it, with `/`
 */
export async function ignoredPaths(directory: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const running = await openGit(["check-ignore", "-z", "--no-index", "--stdin"], { directory });
  running.stdin.on("error", () => {
    // It ended before it read all; its exit code says why.
  });
  running.stdin.end(paths.map((path) => `${path}\0`).join(""));
  const { code, output, errors } = await readWhole(running);
  // 1: none of them.
  if (code !== 0 && code !== 1) throw new Error(`git check-ignore failed: ${errors.slice(0, 300)}`);
  return new Set(output.toString("utf8").split("\0").slice(0, -1));
}
