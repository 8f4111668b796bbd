import { isProtectedBranch } from "@gennai/governance/policies/git/branch";
import { branchNameFor } from "@gennai/protocol/branch-name";
import { loadProjectConfig } from "../config/project-config.ts";
import { readGitHead } from "../git-data/git-head.ts";
import { ServiceError } from "../service-error.ts";
import { branchesInFiles } from "./branches-in-files.ts";
import { afterRefusedSwitch } from "./refused-switch.ts";
import { seeRepository } from "./repository-state.ts";
import { type GitResult, git } from "./run/run-git.ts";

export interface BranchRequest {
  /** Absolute path in a working tree. */
  readonly directory: string;
  /** What the user asked for; names the branch. */
  readonly task: string;
  /** A name of the user's choice. */
  readonly branch?: string;
  /** Patterns with `*` of further branches that nobody works on, besides those of the project's configuration. */
  readonly protect: readonly string[];
  readonly signal: AbortSignal;
}

/** Where the agent works. */
export interface AgentBranch {
  readonly name: string;
  /** `kept`: it was the current branch already. */
  readonly how: "kept" | "created" | "switched";
  /** The branch before, unless it was kept or HEAD was on none. Without a commit, git does not know that branch any more. */
  readonly before?: { readonly branch: string; readonly commit: string | undefined };
}

/**
 * Brings the working tree onto a branch the agent may work on: from a protected branch to `ai-agent/…`, carrying uncommitted
 * changes if git can; any other branch is kept. Throws `ServiceError` with one of the reasons `git_missing`,
 * `no_repository`, `not_trusted`, `protected_branch`, `bad_branch_name`, `cannot_switch`; then nothing was changed.
 */
export async function prepareBranch(request: BranchRequest): Promise<AgentBranch> {
  const { directory, signal } = request;
  const { protectedBranches } = await loadProjectConfig(directory);
  const protection = [...request.protect, ...protectedBranches];
  const inFiles = request.branch === undefined ? branchesInFiles(directory) : undefined;
  if (inFiles !== undefined && !isProtected(inFiles.current, [...protection, ...inFiles.remoteDefaults]))
    return { name: inFiles.current, how: "kept" };

  const run: Run = (...args) => git(args, { directory, signal });
  const name = request.branch ?? branchNameFor(request.task);
  // Each start of git takes the time of a sandbox.
  const { current, exists, remoteDefaults } =
    (await seenAtOnce(run, name)) ?? (await seenOneByOne(run, name, { directory, signal }));
  const extra = [...protection, ...remoteDefaults];
  const isFree = current !== undefined && !isProtected(current, extra);
  if (isFree && (request.branch === undefined || request.branch === current)) return { name: current, how: "kept" };

  if (isProtected(name, extra)) {
    throw new ServiceError("invalid_argument", `${name} is a protected branch; the agent does not work there.`, {
      reason: "protected_branch",
      hint: "Choose another name, or none.",
    });
  }
  // A name derived from the task is always valid.
  if (request.branch !== undefined && !exists && (await run("check-ref-format", "--branch", name)).code !== 0) {
    throw new ServiceError("invalid_argument", `${JSON.stringify(name)} is not a name git accepts for a branch.`, {
      reason: "bad_branch_name",
      hint: "Choose another name, or none.",
    });
  }
  const before = readGitHead(directory);
  const moved = await git(["switch", "--quiet", ...(exists ? [name] : ["--create", name])], {
    directory,
    signal,
    writes: "working-tree",
  });
  if (moved.code !== 0) {
    throw new ServiceError(
      "failed_precondition",
      `git could not ${exists ? "switch to" : "create"} ${name}: ${moved.stderr.trim()}`,
      { reason: "cannot_switch", hint: afterRefusedSwitch(moved.stderr) },
    );
  }
  const how = exists ? "switched" : "created";
  if (before.type !== "branch") return { name, how };
  return { name, how, before: { branch: before.branch, commit: before.commit } };
}

function isProtected(branch: string, extra: readonly string[]): boolean {
  return isProtectedBranch(branch, { extra }) !== undefined;
}

type Run = (...args: string[]) => Promise<GitResult>;

/** What must be known of existing branches. */
interface Branches {
  /** Undefined if HEAD is on no branch. */
  readonly current: string | undefined;
  /** Whether the wanted branch exists. */
  readonly exists: boolean;
  /** Branches that the remotes call their default. */
  readonly remoteDefaults: readonly string[];
}

/** Asks git once for everything. Undefined if the answer is not clear: no repository, no commit yet, no git. */
async function seenAtOnce(run: Run, name: string): Promise<Branches | undefined> {
  const own = `refs/heads/${name}`;
  // Without a star, a pattern matches what is below it. Links are followed: a remote's HEAD is reported as the branch it leads
  // to.
  const refs = [`--glob=${own}*`, "--glob=refs/remotes/*/HEAD"];
  const asked = await run("rev-parse", "--is-inside-work-tree", "--symbolic-full-name", "HEAD", ...refs).catch(
    () => undefined,
  );
  if (asked === undefined || asked.code !== 0 || asked.stderr !== "") return undefined;
  const [isInside, head = "", ...found] = asked.stdout.trimEnd().split("\n");
  if (isInside !== "true") return undefined;
  return {
    current: head.startsWith("refs/heads/") ? head.slice("refs/heads/".length) : undefined,
    exists: found.includes(own),
    remoteDefaults: found.flatMap((ref) => /^refs\/remotes\/[^/]+\/(.+)$/.exec(ref)?.[1] ?? []),
  };
}

/** Throws `ServiceError` if no branch can be worked on. */
async function seenOneByOne(
  run: Run,
  name: string,
  { directory, signal }: { readonly directory: string; readonly signal: AbortSignal },
): Promise<Branches> {
  const asked = Promise.all([currentBranch(run), knownBranches(run, name)]);
  // Without a repository, `requireRepository` reports it better.
  asked.catch(() => undefined);
  await requireRepository(directory, signal);
  const [current, known] = await asked;
  return { current, ...known };
}

async function requireRepository(directory: string, signal: AbortSignal): Promise<void> {
  const { state, reason } = await seeRepository(directory, signal);
  switch (state) {
    case "ready":
      return;
    case "not-installed":
      throw new ServiceError("failed_precondition", `Branch Mode needs git: ${reason}`, {
        reason: "git_missing",
        hint: "Install git, or use Proposal Mode.",
      });
    case "not-trusted":
      throw new ServiceError("failed_precondition", `git does not trust this repository. ${reason}`, {
        reason: "not_trusted",
        hint: "Where it is only the owner: git config --global --add safe.directory <workspace>. Or use Proposal Mode.",
      });
    case "no-repository":
      throw new ServiceError(
        "failed_precondition",
        "The workspace is not a git repository, and Branch Mode works on a branch.",
        { reason: "no_repository", hint: "Make it one with git init, or use Proposal Mode." },
      );
  }
}

async function currentBranch(run: Run): Promise<string | undefined> {
  const head = await run("symbolic-ref", "--quiet", "--short", "HEAD");
  return head.code === 0 ? head.stdout.trim() : undefined;
}

async function knownBranches(run: Run, name: string): Promise<Omit<Branches, "current">> {
  const own = `refs/heads/${name}`;
  const { stdout } = await run("for-each-ref", "--format=%(refname) %(symref:lstrip=3)", own, "refs/remotes/*/HEAD");
  const refs = stdout.split("\n").map((line) => line.split(" "));
  return {
    // As a pattern, the name also matches branches below it.
    exists: refs.some(([ref]) => ref === own),
    remoteDefaults: refs.flatMap(([ref, leadsTo = ""]) => (ref === own || leadsTo === "" ? [] : [leadsTo])),
  };
}
