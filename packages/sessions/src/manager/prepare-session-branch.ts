import { type AgentBranch, prepareBranch } from "@gennai/git/prepare-branch";
import { ServiceError } from "@gennai/machine/service-error";
import { heldByClient } from "../client-workspace/held-by-client.ts";
import type { Session } from "../session/session.ts";
import { holdTree } from "../session/working-tree-claim.ts";

/**
 * Switches a session's workspace to a branch for the agent, on a user's request. No turn may be running there, because a turn
 * is tied to its branch. Throws `ServiceError`; then the branch is unchanged.
 */
export async function prepareSessionBranch(
  session: Session,
  wanted: { readonly task: string; readonly branch?: string },
  signal: AbortSignal,
): Promise<AgentBranch> {
  const { services, workspace } = session;
  if (workspace.client !== undefined) throw heldByClient("It makes the branch with its own git.");
  const { stopAll, readOnly } = services.emergency.current();
  if (stopAll || readOnly) {
    throw new ServiceError("permission_denied", "An emergency control is on, so the branch stays as it is.", {
      reason: stopAll ? "stopped" : "read_only_mode",
      hint: "A person lifts it: gennai emergency.",
    });
  }
  session.refuseWhileRunning("change the branch");
  // No turn of another process may run either.
  await session.catchUp();
  using _tree = await holdTree(session, "The branch stays as it is");
  const branch = await prepareBranch({
    directory: workspace.root,
    ...wanted,
    protect: await services.protectedBranches(),
    signal,
  });
  if (branch.how !== "kept") {
    await session.decided([], "session", { branch: branch.name, how: branch.how });
  }
  return branch;
}
