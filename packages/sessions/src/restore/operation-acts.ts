import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { ServiceError } from "@gennai/machine/service-error";
import type { LayeredTree } from "@gennai/protocol/model/session/layer";
import { runStaged } from "@gennai/shell/run/run-staged";
import type { StagedLayer } from "@gennai/shell/stage-layer";
import type { OpenStage } from "@gennai/shell/stages/open-stages";
import type { Stages, ZeroAccess } from "@gennai/shell/stages/stages";
import { summariseTree } from "@gennai/stage/layer/layer-summary";
import { SessionProposal } from "../proposal/session-proposal.ts";
import type { Session } from "../session/session.ts";

/** How people name what is under way in git, beside the trees of a session's layer. */
export const operationPath = ".git";

/** What is under way in git in a session; undefined for nothing. */
export function operationOf({ id, services, workspace }: Session): OpenStage | undefined {
  return workspace.client === undefined ? services.stages?.open.of(id) : undefined;
}

/** It as a tree of the layer. */
export async function listOperation(open: OpenStage): Promise<LayeredTree> {
  return { path: operationPath, command: open.operation, at: open.at, ...(await summariseTree(open.changes)) };
}

/** What a person brings into the workspace. */
export type StagedForUser = Pick<StagedLayer, "effects" | "digest" | "edits" | "keep" | "drop">;

/** All of it as it would be in the workspace, unfinished. The holder keeps or drops it. Throws `ServiceError` if it is overtaken. */
export async function stageOperation(
  session: Session,
  open: OpenStage,
  place: { readonly stages: Stages; readonly zeroAccess: ZeroAccess; readonly signal: AbortSignal },
): Promise<StagedForUser> {
  const [moved] = place.stages.open.movedSince(open);
  if (moved !== undefined) {
    throw new ServiceError("failed_precondition", `Nothing was kept: ${moved} changed since ${open.operation} began.`, {
      reason: "stale_file",
      hint: "Let the session go on: its changes become a proposal, or a branch.",
    });
  }
  const { id, services, workspace } = session;
  const { root: workspaceRoot } = workspace;
  const command = analyseCommand("true", { cwd: workspaceRoot, home: services.home, workspace: workspaceRoot });
  const staged = await runStaged(
    { command, cwd: workspaceRoot, timeoutMs: 60_000, confirmed: false, handsOver: true },
    {
      ...place,
      workspaceRoot,
      session: id,
      environment: services.commandEnvironment,
      unfinished: async () => (await SessionProposal.needed(session)).tree,
    },
    { signal: place.signal, onOutput: () => undefined },
  );
  const all = new Set<string>();
  return {
    ...staged,
    edits: () => staged.edits(all),
    keep: async () => {
      await staged.keep(all);
    },
  };
}
