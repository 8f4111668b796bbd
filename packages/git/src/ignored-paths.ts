import { readWhole } from "./run/read-whole.ts";
import { openGit } from "./run/run-git.ts";

/**
 * The paths that git's present rules ignore. Looks only at names.
 * @param directory absolute path in a repository
 * @param paths relative to it, with `/`
 */
export async function ignoredPaths(directory: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const running = await openGit(["check-ignore", "-z", "--no-index", "--stdin"], { directory });
  running.stdin.on("error", () => {
    // Git ended before it read all its input; its exit code says why.
  });
  running.stdin.end(paths.map((path) => `${path}\0`).join(""));
  const { code, output, errors } = await readWhole(running);
  // Exit code 1: none of the paths.
  if (code !== 0 && code !== 1) throw new Error(`git check-ignore failed: ${errors.slice(0, 300)}`);
  return new Set(output.toString("utf8").split("\0").slice(0, -1));
}

/** Which paths git ignores. It is asked about each path once, and the answer stays. */
export class IgnoredPaths {
  readonly directory: string;
  readonly #known = new Map<string, boolean>();

  /** @param directory absolute path in a repository */
  constructor(directory: string) {
    this.directory = directory;
  }

  /** As `ignoredPaths`. */
  async among(paths: readonly string[]): Promise<ReadonlySet<string>> {
    const asked = paths.filter((path) => !this.#known.has(path));
    const ignored = await ignoredPaths(this.directory, asked);
    for (const path of asked) this.#known.set(path, ignored.has(path));
    return new Set(paths.filter((path) => this.#known.get(path) === true));
  }
}
