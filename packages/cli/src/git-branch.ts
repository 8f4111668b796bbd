import { isProtectedBranch } from "@gennai/governance/policies/branch";
import { loadProjectConfig } from "@gennai/server/config/project-config";
import { ServiceError } from "@gennai/server/service-error";
import { branchNameFor } from "./branch-name.ts";
import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";
import { GitMissingError, git } from "./git.ts";

export interface BranchRequest {
  readonly workspace: string;
  /** What the user asked for; names the branch. */
  readonly request: string;
  /** A name of the user's choice. */
  readonly branch?: string;
  /** Further branches nobody works on, with `*`. */
  readonly protect: readonly string[];
  readonly signal: AbortSignal;
}

/** Where the agent works. */
export interface AgentBranch {
  readonly name: string;
  /** `kept`: it was the current branch before. */
  readonly how: "kept" | "created" | "switched";
}

/**
 * Brings the workspace onto a branch the agent may work on: from a protected branch to `ai-agent/…`, carrying uncommitted
 * changes if git can; any other branch is kept. Throws `CliError`; then nothing was changed.
 */
export async function prepareAgentBranch(request: BranchRequest): Promise<AgentBranch> {
  const run = (...args: string[]) => git(args, { directory: request.workspace, signal: request.signal });
  await requireRepository(run);
  const head = await run("symbolic-ref", "--quiet", "--short", "HEAD");
  const current = head.code === 0 ? head.stdout.trim() : undefined;
  const extra = [...request.protect, ...(await projectBranches(request.workspace)), ...(await remoteDefaults(run))];
  const isProtected = (branch: string): boolean => isProtectedBranch(branch, { extra }) !== undefined;
  const isFree = current !== undefined && !isProtected(current);
  if (isFree && (request.branch === undefined || request.branch === current)) return { name: current, how: "kept" };

  const name = request.branch ?? branchNameFor(request.request);
  if (isProtected(name)) {
    throw new CliError(`${name} is a protected branch; the agent does not work there.`, {
      exitCode: exitCode.usage,
      next: ["Choose another name with --branch, or leave --branch away."],
    });
  }
  if ((await run("check-ref-format", "--branch", name)).code !== 0) {
    throw new CliError(`${JSON.stringify(name)} is not a name git accepts for a branch.`, {
      exitCode: exitCode.usage,
      next: ["Choose another name with --branch."],
    });
  }
  const exists = (await run("rev-parse", "--verify", "--quiet", `refs/heads/${name}`)).code === 0;
  const moved = await run("switch", "--quiet", ...(exists ? [name] : ["--create", name]));
  if (moved.code !== 0) {
    throw new CliError(`git could not ${exists ? "switch to" : "create"} ${name}: ${moved.stderr.trim()}`, {
      next: [
        "Commit or stash your changes and run the command again,",
        "or choose another branch with --branch, or review instead of writing with --mode proposal.",
      ],
    });
  }
  return { name, how: exists ? "switched" : "created" };
}

/** Branches that the project's own configuration protects. */
async function projectBranches(workspace: string): Promise<readonly string[]> {
  try {
    return (await loadProjectConfig(workspace)).protectedBranches;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new CliError(error.message, {
      exitCode: exitCode.usage,
      next: [error.hint ?? "Mend the file."],
      cause: error,
    });
  }
}

type Run = (...args: string[]) => ReturnType<typeof git>;

async function requireRepository(run: Run): Promise<void> {
  const { code, stdout, stderr } = await run("rev-parse", "--is-inside-work-tree").catch((error: unknown) => {
    if (error instanceof GitMissingError) {
      throw new CliError("Branch mode needs git, and git is not installed.", {
        exitCode: exitCode.usage,
        next: ["Install git, or review instead of writing with --mode proposal."],
        cause: error,
      });
    }
    throw error;
  });
  if (code === 0 && stdout.trim() === "true") return;
  const distrusted = stderr.includes("dubious ownership");
  throw new CliError(
    distrusted
      ? "git does not trust this repository: it belongs to another user."
      : "The workspace is no git repository, and branch mode works on a branch.",
    {
      exitCode: exitCode.usage,
      next: [
        distrusted
          ? "Run what git proposes: git config --global --add safe.directory <workspace>"
          : "Make it one: git init <workspace>",
        "or review instead of writing: --mode proposal",
      ],
    },
  );
}

/** The branches the remotes call their default. */
async function remoteDefaults(run: Run): Promise<readonly string[]> {
  const { stdout } = await run("for-each-ref", "--format=%(symref:lstrip=3)", "refs/remotes/*/HEAD");
  return stdout.split("\n").filter((name) => name !== "");
}
