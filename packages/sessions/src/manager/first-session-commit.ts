import { join } from "node:path";
import { type FirstCommit, makeFirstCommit, planFirstCommit } from "@gennai/git/first-commit";
import { git } from "@gennai/git/run/run-git";
import { isZeroAccess } from "@gennai/governance/policies/files/secrets";
import { ServiceError } from "@gennai/machine/service-error";
import { heldByClient } from "../client-workspace/held-by-client.ts";
import { zeroAccessOf } from "../policies/zero-access.ts";
import { refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import { holdTree } from "../session/working-tree-claim.ts";

/**
 * Lists what the first commit of the workspace's repository would contain; with the digest of the list that a user saw, makes
 * exactly that commit. Excludes what the agent may not see, and what looks like a secret by its name. Throws `ServiceError`;
 * then nothing was committed.
 */
export async function firstSessionCommit(
  session: Session,
  { sha256, signal }: { readonly sha256: string; readonly signal: AbortSignal },
): Promise<(FirstCommit & { readonly commit: string }) | undefined> {
  const { workspace } = session;
  if (workspace.client !== undefined) throw heldByClient("Its first commit is made with its own git.");
  const planned = await plannedCommit(session, signal);
  if (planned === undefined || planned.sha256 !== sha256) return planned && { ...planned, commit: "" };
  refuseInEmergency(session, "Nothing was committed", tool);
  session.refuseWhileRunning("commit");
  using _tree = await holdTree(session, "Nothing was committed");
  const commit = await makeFirstCommit(workspace.root, planned);
  await session.decided([], "session", { firstCommit: commit, branch: planned.branch, files: planned.files.length });
  return { ...planned, commit };
}

const tool = { name: "MakeFirstCommit", statement: "Make the first commit" } as const;

/**
 * Makes the workspace a repository, with a first commit of what is there, so that git shows what the agent changes. Without one
 * (too many files, nobody's name) the repository is empty. Rejects if git fails.
 */
export async function beginRepository(session: Session, signal: AbortSignal): Promise<void> {
  const { root } = session.workspace;
  const made = await git(["init", "--quiet", "--initial-branch=main"], {
    directory: root,
    signal,
    writes: "working-tree",
  });
  if (made.code !== 0) throw new ServiceError("failed_precondition", `git init failed: ${made.stderr.trim()}`);
  try {
    const planned = await plannedCommit(session, signal);
    if (planned !== undefined) await makeFirstCommit(root, planned);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

async function plannedCommit({ services, workspace }: Session, signal: AbortSignal): Promise<FirstCommit | undefined> {
  const governance = await services.governanceOf(workspace);
  const zeroAccess = zeroAccessOf(await governance.rules.current(), workspace.root);
  const staysOut = (path: string) => isZeroAccess(path) || zeroAccess.covers(join(workspace.root, path));
  return planFirstCommit(workspace.root, { staysOut, signal });
}
