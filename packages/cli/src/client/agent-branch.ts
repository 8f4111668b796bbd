import { branchWords } from "@gennai/client/view/notice";
import { type AgentBranch, prepareBranch, wantedBranch } from "@gennai/git/prepare-branch";
import { ExpectedError } from "@gennai/machine/expected-error";
import { CliError } from "../terminal/cli-error.ts";
import { exitCode } from "../terminal/exit-code.ts";
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
  return asCliErrors(prepareBranch(asked(request)));
}

/** The branch that is worked on, if it is the present one; undefined: one begins with the first write. Throws `CliError` as well. */
export async function presentBranch(request: BranchRequest): Promise<AgentBranch | undefined> {
  const wanted = await asCliErrors(wantedBranch(asked(request)));
  return wanted.how === "kept" ? wanted : undefined;
}

function asked({ workspace: directory, request: task, branch, protect, signal }: BranchRequest) {
  return { directory, task, protect, signal, ...(branch === undefined ? {} : { branch }) };
}

async function asCliErrors<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ExpectedError)) throw error;
    throw new CliError(error.message, {
      exitCode: error.reason === "cannot_switch" ? exitCode.failed : exitCode.usage,
      next: [error.hint ?? "Correct the file.", ...(error.reason === undefined ? [] : [ways])],
      cause: error,
    });
  }
}

/** Text about the branch, for people. */
export function branchTitle({ name, how, before }: AgentBranch): string {
  const unborn = before === undefined || before.commit !== undefined ? "" : before.branch;
  return terminalSafe(branchWords({ name, how, unborn }));
}

const ways = "On the command line: --branch NAME, or Proposal Mode by --mode proposal.";
