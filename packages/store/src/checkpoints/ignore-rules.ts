import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { plainRepository } from "@gennai/git/plain-repository";
import { UnsafeRepository } from "@gennai/git/run/confirmed-repository";
import { GitMissingError } from "@gennai/git/run/machine-git";
import { git } from "@gennai/git/run/run-git";
import { entriesOf } from "./kept-paths.ts";

interface RepositoryFiles {
  /** Path from the repository's top to the workspace, with `/` at the end; empty if they are the same. */
  readonly prefix: string;
  readonly index: string;
  readonly exclude: string;
}

/** The ignore rules of the user's own repository for the files of a workspace. Only reads. */
export class IgnoreRules {
  readonly #root: string;
  #place: RepositoryFiles | undefined;
  /** Where the last call of git found a repository. */
  #asked: string | undefined;
  #tracked: { readonly stamp: string; readonly paths: readonly string[] } | undefined;

  constructor(root: string) {
    this.#root = root;
  }

  /** Patterns besides the workspace's own `.gitignore` files: private ones, and those of directories above. */
  async patterns(signal?: AbortSignal): Promise<string> {
    const place = await this.#find(signal);
    if (place === undefined) return "";
    if (place.prefix === "") return textOf(place.exclude);
    let directory = this.#root;
    const above: string[] = [];
    for (const _part of place.prefix.split("/").filter((part) => part !== "")) {
      directory = dirname(directory);
      // A pattern with a slash depends on its directory; only the others mean the same here.
      above.push(
        ...textOf(join(directory, ".gitignore"))
          .split(/\r?\n/)
          .filter((line) => /^[^/#]+\/?$/.test(line)),
      );
    }
    return `${above.join("\n")}\n`;
  }

  /** Files that the user's repository tracks although its rules ignore them. */
  async trackedIgnored(signal?: AbortSignal): Promise<readonly string[]> {
    const place = await this.#find(signal);
    if (place === undefined) return [];
    const stamp = stampOf(place.index);
    if (this.#tracked?.stamp === stamp) return this.#tracked.paths;
    const args = ["ls-files", "-z", "-c", "-i", "--exclude-standard"];
    const listed = await this.#git(args, signal);
    const paths = listed === undefined ? [] : entriesOf(Buffer.from(listed));
    this.#tracked = { stamp, paths };
    return paths;
  }

  async #find(signal: AbortSignal | undefined): Promise<RepositoryFiles | undefined> {
    const repository = nearestRepository(this.#root);
    if (repository === this.#asked) return this.#place;
    const place = repository === undefined ? undefined : await this.#ask(signal);
    // Set only now, so that nothing is remembered of an interrupted call.
    this.#place = place;
    this.#asked = repository;
    return place;
  }

  async #ask(signal: AbortSignal | undefined): Promise<RepositoryFiles | undefined> {
    const data = plainRepository(this.#root);
    if (data !== undefined) return { prefix: "", index: join(data, "index"), exclude: join(data, "info", "exclude") };
    const asked = ["rev-parse", "--show-prefix", "--git-path", "index", "--git-path", "info/exclude"];
    const [prefix, index, exclude] = (await this.#git(asked, signal))?.split("\n") ?? [];
    if (prefix === undefined || index === undefined || exclude === undefined) return undefined;
    return { prefix, index: resolve(this.#root, index), exclude: resolve(this.#root, exclude) };
  }

  /** Git's output; undefined if git knows nothing about these files. */
  async #git(args: readonly string[], signal: AbortSignal | undefined): Promise<string | undefined> {
    try {
      const options = signal === undefined ? {} : { signal };
      const { code, stdout } = await git(args, { directory: this.#root, ...options });
      return code === 0 ? stdout : undefined;
    } catch (error) {
      if (error instanceof GitMissingError || error instanceof UnsafeRepository) return undefined;
      throw error;
    }
  }
}

/** The nearest directory that may be a repository; git itself is asked about it. */
function nearestRepository(root: string): string | undefined {
  for (let directory = root; ; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return directory;
    if (dirname(directory) === directory) return undefined;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").slice(0, 1_000_000);
  } catch {
    return "";
  }
}

function stampOf(path: string): string {
  try {
    const { mtimeNs, size, ino } = statSync(path, { bigint: true });
    return `${mtimeNs} ${size} ${ino}`;
  } catch {
    return "none";
  }
}
