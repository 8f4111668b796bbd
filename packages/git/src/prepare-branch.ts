import { isProtectedBranch } from "@gennai/governance/policies/branch";
import { loadProjectConfig } from "@gennai/machine/config/project-config";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { ServiceError } from "@gennai/machine/service-error";
import { branchNameFor } from "@gennai/protocol/branch-name";
import { afterRefusedSwitch } from "@gennai/protocol/refused-switch";
import { type Branches, branchesInFiles } from "./branches-in-files.ts";
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

/** Where the agent would work; `created` and `switched` are still to be done. */
export type WantedBranch = Pick<AgentBranch, "name" | "how">;

/**
 * Brings the working tree onto a branch the agent may work on: from a protected branch to `ai-agent/…`, carrying uncommitted
 * changes if git can; any other branch is kept. Throws `ServiceError` as `wantedBranch` does, and with the reason `cannot_switch`;
 * then nothing was changed.
 */
export async function prepareBranch(request: BranchRequest): Promise<AgentBranch> {
  const { directory, signal } = request;
  const wanted = await wantedBranch(request);
  const { name, how } = wanted;
  if (how === "kept") return wanted;
  const before = readGitHead(directory);
  const to = how === "switched" ? [name] : ["--create", name];
  const moved = await git(["switch", "--quiet", ...to], { directory, signal, writes: "working-tree" });
  if (moved.code !== 0) {
    throw new ServiceError(
      "failed_precondition",
      `git could not ${how === "switched" ? "switch to" : "create"} ${name}: ${moved.stderr.trim()}`,
      { reason: "cannot_switch", hint: afterRefusedSwitch(moved.stderr) },
    );
  }
  if (before.type !== "branch") return wanted;
  return { ...wanted, before: { branch: before.branch, commit: before.commit } };
}

/**
 * The branch that `prepareBranch` would bring the working tree onto; changes nothing. A name derived from the task is never that of
 * a branch that leads elsewhere than HEAD: work would go on without what was committed since. Throws `ServiceError` with one of
 * the reasons `git_missing`, `no_repository`, `not_trusted`, `protected_branch`, `bad_branch_name`.
 */
export async function wantedBranch(request: BranchRequest): Promise<WantedBranch> {
  const { directory, signal } = request;
  const { protectedBranches } = await loadProjectConfig(directory);
  const protection = [...request.protect, ...protectedBranches];
  const run: Run = (...args) => git(args, { directory, signal });
  const named = request.branch ?? branchNameFor(request.task);
  // Each start of git takes the time of a sandbox.
  const { current, likeIt, remoteDefaults } =
    branchesInFiles(directory, named) ??
    (await seenAtOnce(run, named)) ??
    (await seenOneByOne(run, named, { directory, signal }));
  const extra = [...protection, ...remoteDefaults];
  const isFree = current !== undefined && !isProtected(current, extra);
  if (isFree && (request.branch === undefined || request.branch === current)) return { name: current, how: "kept" };

  if (isProtected(named, extra)) {
    throw new ServiceError("invalid_argument", `${named} is a protected branch; the agent does not work there.`, {
      reason: "protected_branch",
      hint: "Choose another name, or none.",
    });
  }
  if (!likeIt.includes(named)) {
    // A name derived from the task is always valid.
    if (request.branch !== undefined && (await run("check-ref-format", "--branch", named)).code !== 0) {
      throw new ServiceError("invalid_argument", `${JSON.stringify(named)} is not a name git accepts for a branch.`, {
        reason: "bad_branch_name",
        hint: "Choose another name, or none.",
      });
    }
    return { name: named, how: "created" };
  }
  return request.branch === undefined ? atHead(run, named, likeIt) : { name: named, how: "switched" };
}

/** The branch itself or a numbered one like it: the first that is at HEAD, or does not exist. */
async function atHead(run: Run, named: string, likeIt: readonly string[]): Promise<WantedBranch> {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? named : `${named}-${number}`;
    if (!likeIt.includes(name)) return { name, how: "created" };
    const { code, stdout } = await run("rev-parse", "HEAD", `refs/heads/${name}`);
    const [head, commit] = stdout.trim().split("\n");
    if (code === 0 && head === commit) return { name, how: "switched" };
  }
}

function isProtected(branch: string, extra: readonly string[]): boolean {
  return isProtectedBranch(branch, { extra }) !== undefined;
}

type Run = (...args: string[]) => Promise<GitResult>;

/** Asks git once for everything. Undefined if the answer is not clear: no repository, no commit yet, no git. */
async function seenAtOnce(run: Run, name: string): Promise<Branches | undefined> {
  // Without a star, a pattern matches what is below it. Links are followed: a remote's HEAD is reported as the branch it leads
  // to.
  const refs = [`--glob=refs/heads/${name}*`, "--glob=refs/remotes/*/HEAD"];
  const asked = await run("rev-parse", "--is-inside-work-tree", "--symbolic-full-name", "HEAD", ...refs).catch(
    () => undefined,
  );
  if (asked === undefined || asked.code !== 0 || asked.stderr !== "") return undefined;
  const [isInside, head = "", ...found] = asked.stdout.trimEnd().split("\n");
  if (isInside !== "true") return undefined;
  return {
    current: head.startsWith(heads) ? head.slice(heads.length) : undefined,
    likeIt: found.flatMap((ref) => (ref.startsWith(heads) ? [ref.slice(heads.length)] : [])),
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
  const patterns = [`${heads}${name}*`, `${heads}${name}*/**`, "refs/remotes/*/HEAD"];
  const { stdout } = await run("for-each-ref", "--format=%(refname) %(symref:lstrip=3)", ...patterns);
  const refs = stdout.split("\n").map((line) => line.split(" "));
  return {
    likeIt: refs.flatMap(([ref = ""]) => (ref.startsWith(heads) ? [ref.slice(heads.length)] : [])),
    remoteDefaults: refs.flatMap(([ref = "", leadsTo = ""]) =>
      ref.startsWith(heads) || leadsTo === "" ? [] : [leadsTo],
    ),
  };
}

const heads = "refs/heads/";
