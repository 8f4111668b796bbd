import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { type ConfirmedRepository, confirmedRepository } from "./confirmed-repository.ts";
import type { GitMounts } from "./git-sandbox.ts";
import { readWhole } from "./read-whole.ts";
import { type StartedGit, startGit } from "./start-git.ts";

export interface GitTarget {
  /** Absolute path of a directory; git sees only it and the repository around it. */
  readonly directory: string;
  /**
   * What git may change besides its own data: the working tree, or a directory beside it. If left out, git changes nothing, not
   * even its index.
   */
  readonly writes?: "working-tree" | { readonly directory: string };
  /** Absolute path of a file in git's data to use as the index. */
  readonly index?: string;
  /** Real path of a further file that git sees. */
  readonly alsoReads?: string | undefined;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs git over a repository that others may have prepared: in a sandbox where the machine has one, and with no program that
 * the repository's own settings, attributes or hooks name. Rejects with `GitMissingError`, `UnsafeRepository`, with
 * `RangeError` for more than 16 MiB of output, or with the signal's reason.
 */
export async function git(
  args: readonly string[],
  options: GitTarget & {
    readonly signal?: AbortSignal;
    /** What git reads on its standard input. */
    readonly input?: string;
  },
): Promise<GitResult> {
  const { signal } = options;
  signal?.throwIfAborted();
  const running = await openGit(args, options);
  // A git that writes runs to its end: a half-done switch is worse than a complete one.
  const stop = (): void => {
    if (options.writes === undefined) running.kill();
  };
  signal?.addEventListener("abort", stop, { once: true });
  // The signal may have aborted while git was searched.
  if (signal?.aborted === true) stop();
  try {
    // If git ends before it reads all its input, its exit code says why.
    running.stdin.on("error", () => {});
    running.stdin.end(options.input ?? "");
    const { code, output, errors } = await readWhole(running).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    signal?.throwIfAborted();
    if (code === undefined) throw new Error("git was killed.");
    return { code, stdout: output.toString("utf8"), stderr: errors };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

/** Like `git`, but returns while git is still running. */
export async function openGit(
  args: readonly string[],
  { directory, writes, index, alsoReads }: GitTarget,
): Promise<StartedGit> {
  const cwd = realpathSync(directory);
  const repository = confirmedRepository(cwd, homedir());
  const top = repository?.workTree ?? cwd;
  return startGit(withoutSubmodules(args), {
    cwd,
    workTree: repository?.workTree,
    environment: {
      GIT_CEILING_DIRECTORIES: dirname(top),
      ...(writes === undefined ? { GIT_OPTIONAL_LOCKS: "0" } : {}),
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    },
    ...withReadable(mounts(top, repository, writes), alsoReads),
    repository: "of-others",
  });
}

function mounts(top: string, repository: ConfirmedRepository | undefined, writes: GitTarget["writes"]) {
  const data = repository?.data ?? [];
  if (writes === undefined) return { readable: [top, ...data], writable: [] };
  if (writes === "working-tree") return { readable: [], writable: [top, ...data] };
  return { readable: [top], writable: [...data, realpathSync(writes.directory)] };
}

function withReadable(mounts: GitMounts, path: string | undefined): GitMounts {
  return path === undefined ? mounts : { ...mounts, readable: [...mounts.readable, path] };
}

const comparing: ReadonlySet<string> = new Set(
  "diff diff-files diff-index diff-tree log show status stash reflog whatchanged".split(" "),
);
const comparesNothing = /^(?:expire|drop|store)$/;
const aboutSubmodules = /^--(?:ignore-submodules|submodule|recurse-submodules)(?:=|$)/;

/** Excludes changes within submodules: another git would look for them, with the submodule's settings. */
function withoutSubmodules(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const kept = args.filter((word, index) => index >= end || !aboutSubmodules.test(word));
  const isShow = args[at] !== "stash" && args[at] !== "reflog";
  if (!comparing.has(args[at] ?? "") || comparesNothing.test(args[at + 1] ?? "")) return kept;
  const options = ["--ignore-submodules=dirty", ...(args[at] === "status" ? [] : ["--no-ext-diff", "--no-textconv"])];
  return kept.toSpliced(at + (isShow ? 1 : 2), 0, ...options);
}
