import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ProcessLocks, treeLockName } from "@gennai/machine/process/locks/process-lock";
import { ServiceError } from "@gennai/machine/service-error";
import { branchNameFor } from "@gennai/protocol/branch-name";
import type { BranchRequest } from "./prepare-branch.ts";
import { seeRepository } from "./repository-state.ts";
import { UnsafeRepository } from "./run/confirmed-repository.ts";
import { type GitResult, git } from "./run/run-git.ts";

/** Highest number that is appended to tell working trees of one name apart. */
const maxSame = 100;

export interface SessionWorktree {
  /** Real absolute path. */
  readonly path: string;
  readonly branch: string;
}

/** What happened to a working tree that was examined for removal. */
export interface PrunedWorktree {
  readonly path: string;
  readonly state: "removed" | "in-use" | "has-changes" | "kept-by-git";
}

/**
 * Makes a working tree of its own for a session, from the current commit, on a new branch; the user's own tree, index and
 * branch stay as they are. It lies beside the repository, in `<repository>.worktrees/`: a place that the agent may write to,
 * on the same file system, and where people find it. Throws `ServiceError` `git_missing`, `no_repository`, `not_trusted`,
 * `cannot_add`.
 */
export async function addSessionWorktree(request: Omit<BranchRequest, "protect">): Promise<SessionWorktree> {
  const { directory, signal } = request;
  const run = (...args: string[]): Promise<GitResult> => git(args, { directory, signal });
  const top = await mainTree(directory, signal);
  if ((await run("rev-parse", "--verify", "--quiet", "HEAD^{commit}")).code !== 0) {
    throw refused("no_repository", "The repository has no commit yet, so there is nothing to work on.");
  }
  const home = `${top}.worktrees`;
  const wanted = request.branch ?? branchNameFor(request.task);
  for (let number = 1; number <= maxSame; number += 1) {
    const branch = number === 1 ? wanted : `${wanted}-${number}`;
    const path = join(home, branch.replaceAll("/", "-"));
    const taken = (await run("rev-parse", "--verify", "--quiet", `refs/heads/${branch}`)).code === 0;
    if (taken || existsSync(path)) {
      if (request.branch === undefined) continue;
      throw refused("cannot_add", `There is a branch or a working tree ${branch} already.`);
    }
    makeHome(home);
    const added = await git(["worktree", "add", "--quiet", "-b", branch, path, "HEAD"], {
      directory,
      signal,
      writes: { directory: home },
    });
    if (added.code !== 0) throw refused("cannot_add", `git could not make a working tree: ${added.stderr.trim()}`);
    return { path: realpathSync(path), branch };
  }
  throw refused("cannot_add", `There are ${maxSame} working trees for ${wanted}: prune them first.`);
}

/** The sessions' working trees that git knows, oldest first. */
export async function listSessionWorktrees(
  directory: string,
  signal: AbortSignal,
): Promise<readonly SessionWorktree[]> {
  const home = `${await mainTree(directory, signal)}.worktrees`;
  const { stdout } = await git(["worktree", "list", "--porcelain", "-z"], { directory, signal });
  return stdout.split("\0\0").flatMap((entry) => {
    const lines = entry.split("\0");
    const path = lines.find((line) => line.startsWith("worktree "))?.slice("worktree ".length);
    const branch = lines.find((line) => line.startsWith("branch refs/heads/"))?.slice("branch refs/heads/".length);
    return path !== undefined && dirname(path) === home ? [{ path, branch: branch ?? "" }] : [];
  });
}

/**
 * Removes the working trees in which no turn runs and nothing is uncommitted. Their branches stay, because they hold the work.
 * Ignored files in a removed tree are lost.
 */
export async function pruneSessionWorktrees(
  directory: string,
  options: { readonly stateDir: string; readonly signal: AbortSignal },
): Promise<readonly PrunedWorktree[]> {
  const { stateDir, signal } = options;
  const locks = new ProcessLocks(join(stateDir, "locks"));
  const home = `${await mainTree(directory, signal)}.worktrees`;
  const pruned: PrunedWorktree[] = [];
  for (const { path } of await listSessionWorktrees(directory, signal)) {
    pruned.push({ path, state: await pruneOne(path) });
  }
  if (existsSync(home) && readdirSync(home).length === 0) rmdirSync(home);
  return pruned;

  async function pruneOne(path: string): Promise<PrunedWorktree["state"]> {
    if (existsSync(path)) {
      if (locks.holder(treeLockName(path)) !== undefined) return "in-use";
      const status = await statusOf(path);
      // The tree's data leads elsewhere, so that its content is unknown: it stays.
      if (status === undefined) return "kept-by-git";
      if (status.code !== 0 || status.stdout !== "") return "has-changes";
    } else makeHome(home);
    // Git checks again, and refuses a tree with changes. This also makes git forget a tree that is already gone; `git worktree
    // prune` would forget all trees that the sandbox hides.
    const removed = await git(["worktree", "remove", path], { directory, signal, writes: { directory: home } });
    return removed.code === 0 ? "removed" : "kept-by-git";
  }

  async function statusOf(path: string): Promise<GitResult | undefined> {
    try {
      return await git(["status", "--porcelain=v1", "-z", "-uall"], { directory: path, signal });
    } catch (error) {
      if (error instanceof UnsafeRepository) return undefined;
      throw error;
    }
  }
}

/** The main working tree of the repository that a linked one belongs to. */
async function mainTree(directory: string, signal: AbortSignal): Promise<string> {
  const { state, reason } = await seeRepository(directory, signal);
  if (state === "not-installed") throw refused("git_missing", reason);
  if (state === "not-trusted") throw refused("not_trusted", `git does not trust this repository. ${reason}`);
  const { code, stdout } = await git(["rev-parse", "--path-format=absolute", "--git-common-dir"], {
    directory,
    signal,
  });
  const common = stdout.trimEnd();
  if (code !== 0 || basename(common) !== ".git") {
    throw refused("no_repository", "A working tree of its own needs a git repository with a working tree.");
  }
  return realpathSync(dirname(common));
}

/** Creates the directory. Git writes there, so nobody may have made it a link. */
function makeHome(home: string): void {
  if (lstatSync(home, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw refused("cannot_add", `${home} is a symbolic link, and working trees are made in a directory.`);
  }
  mkdirSync(home, { recursive: true });
}

function refused(reason: string, message: string): ServiceError {
  return new ServiceError("failed_precondition", message, { reason, hint: "Run it without --worktree." });
}
