import { ExpectedError } from "@gennai/machine/expected-error";
import { type AgentBranch, prepareBranch } from "@gennai/machine/git/prepare-branch";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { ServiceError } from "@gennai/machine/service-error";
import { CliError } from "../errors/cli-error.ts";
import { exitCode } from "../errors/exit-code.ts";
import { shellWords } from "../terminal/shell-words.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";

export interface BranchRequest {
  readonly workspace: string;
  /** What the user asked for; names the branch. */
  readonly request: string;
  /** A name of the user's choice. */
  readonly branch?: string;
  /** Further branches that the agent must not work on, with `*` as wildcard. */
  readonly protect: readonly string[];
  readonly signal: AbortSignal;
}

/** Does here, before a server is asked, what the server's `prepareBranch` does. Throws `CliError`; then nothing was changed. */
export async function prepareAgentBranch(request: BranchRequest): Promise<AgentBranch> {
  const { workspace: directory, request: task, branch, protect, signal } = request;
  try {
    return await prepareBranch({ directory, task, protect, signal, ...(branch === undefined ? {} : { branch }) });
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    throw new CliError(error.message, {
      exitCode: error.reason === "cannot_switch" ? exitCode.failed : exitCode.usage,
      next: [error.hint ?? "Mend the file.", ...(error instanceof ServiceError ? [ways] : [])],
      cause: error,
    });
  }
}

/** Text about the branch that is shown before a turn. */
export function branchTitle({ name, how, before }: AgentBranch): string {
  const title = `Branch ${terminalSafe(name)}${how === "kept" ? "" : ` (${how})`}`;
  if (before === undefined || before.commit !== undefined) return title;
  const branch = terminalSafe(before.branch);
  return `${title} · ${branch} has no commit, so git has no branch ${branch} now; make it with: git switch --create ${branch}`;
}

/** How to leave a branch that was made for a task. Undefined if it has commits of its own, or there is no branch to go back to. */
export function wayBack(workspace: string, { name, how, before }: AgentBranch): string | undefined {
  if (how !== "created" || before?.commit === undefined) return undefined;
  const head = readGitHead(workspace);
  if (head.type !== "branch" || head.branch !== name || head.commit !== before.commit) return undefined;
  return `${shellWords(["git", "switch", before.branch])} && ${shellWords(["git", "branch", "-d", name])}`;
}

const ways = "On the command line: --branch NAME, or Proposal Mode by --mode proposal.";
