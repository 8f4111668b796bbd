import { Code, ConnectError } from "@connectrpc/connect";
import { branchChangeWords, gitStateWords } from "@gennai/protocol/model/session/repository-state";
import type { AgentClient } from "../connection/connection.ts";

/** Git state of a session's workspace, if the server sees it. */
export interface WorkspaceState {
  readonly workingDir: string;
  readonly git: (typeof gitStateWords.words)[number];
  /** undefined on a detached HEAD, and where git is not ready. */
  readonly branch: string | undefined;
  /** There is a commit to begin a branch at. */
  readonly hasCommit: boolean;
  /** Files that are not committed; the server counts to 10,000. */
  readonly changedFiles: number;
  /** What protects the branch; undefined if the agent may work on it. */
  readonly protectedBy: string | undefined;
}

interface SessionCall {
  readonly sessionId: string;
  readonly signal: AbortSignal;
}

export async function getWorkspaceState(
  client: AgentClient,
  { sessionId, signal }: SessionCall,
): Promise<WorkspaceState> {
  const { workingDir, git, branch, commit, changedFiles, protectedBy } = await client.getWorkspaceState(
    { sessionId },
    { signal },
  );
  return {
    workingDir,
    hasCommit: commit !== "",
    changedFiles,
    git: gitStateWords.fromMessage(git) ?? "no-repository",
    branch: branch === "" ? undefined : branch,
    protectedBy: protectedBy === "" ? undefined : protectedBy,
  };
}

/** The branch on which the agent now works. */
export interface PreparedBranch {
  readonly branch: string;
  readonly how: (typeof branchChangeWords.words)[number];
}

/**
 * Has the server bring the workspace onto a branch for the agent, named after the task. Throws `ConnectError`; its
 * `ErrorInfo` says why and what to do, and the branch is as it was.
 */
export async function prepareBranch(
  client: AgentClient,
  { sessionId, task, signal }: SessionCall & { readonly task: string },
): Promise<PreparedBranch> {
  const { branch, change } = await client.prepareBranch({ sessionId, task }, { signal });
  return { branch, how: branchChangeWords.fromMessage(change) ?? "kept" };
}

/** The planned or made first commit of a repository. */
export interface FirstCommit {
  /** All of them. */
  readonly files: readonly string[];
  readonly fileCount: number;
  /** Files that stay out: not for the agent, secret by their names, with a filter (git-crypt, LFS), or repositories of their own. */
  readonly leftOut: readonly string[];
  readonly leftOutCount: number;
  /** Over all files. */
  readonly sha256: string;
  /** undefined: not made. */
  readonly commit: string | undefined;
  readonly branch: string;
}

/**
 * What the first commit would contain; undefined if none is needed, or the server is too old. With the digest of a list that
 * the user agreed to, the commit is made, unless the list has changed. Throws `ConnectError`; then nothing was committed.
 */
export async function makeFirstCommit(
  client: AgentClient,
  { sessionId, sha256 = "", signal }: SessionCall & { readonly sha256?: string },
): Promise<FirstCommit | undefined> {
  const answer = await client.makeFirstCommit({ sessionId, sha256 }, { signal }).catch((error: unknown) => {
    if (ConnectError.from(error).code === Code.Unimplemented) return undefined;
    throw error;
  });
  if (answer?.offered !== true) return undefined;
  const { files, fileCount, leftOut, leftOutCount, commit, branch, ...told } = answer;
  return {
    files,
    fileCount,
    leftOut,
    leftOutCount,
    sha256: told.sha256,
    commit: commit === "" ? undefined : commit,
    branch,
  };
}
