import type { Plan, PlannedAction, SessionPlans } from "@gennai/client/plan";
import { digestOf } from "@gennai/protocol/digest";
import { readGitHead } from "@gennai/server/workspace/git-head";
import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";
import type { PlanPlace } from "./plan-place.ts";
import type { KeptApproval } from "./plan-token-file.ts";
import { terminalSafe } from "./terminal-safe.ts";

/** A token that a server takes, for one plan. */
export interface UsableApproval {
  readonly digest: string;
  readonly token: string;
  /** What was kept of it; undefined when the caller brought the token. */
  readonly kept: KeptApproval | undefined;
}

interface Named {
  readonly planId: string;
  /** What the user named instead of what is kept. */
  readonly token: string | undefined;
  readonly digest: string | undefined;
}

/** Keeps an approval for the commands that come after. Gives what `--json` prints. */
export async function keepApproval(
  plan: Plan,
  actions: readonly PlannedAction[],
  plans: SessionPlans,
  place: PlanPlace,
): Promise<{ readonly approvalToken: string; readonly expires: Date | undefined }> {
  const { planId, digest } = plan;
  const approval = await plans.approve(planId, digest, { signal: place.signal });
  const { approvalToken } = approval;
  const seenSha256 = seen(actions, place);
  await place.tokens.keep(planId, { sessionId: plans.sessionId, digest, approvalToken, seenSha256 });
  return approval;
}

/**
 * The approval to execute with. A running server knows its token and spends it. A server of our own forgot its tokens when
 * the command that approved ended: the person's word is taken out of its file, so that nobody can use it again, and renewed
 * for the same digest, within its ten minutes, and only while the preview and HEAD are what they were. Throws `CliError`;
 * then nothing ran.
 */
export async function takeApproval(named: Named, plans: SessionPlans, place: PlanPlace): Promise<UsableApproval> {
  const { planId } = named;
  const { server, signal, tokens } = place;
  const kept = await tokens.find(planId);
  if (kept !== undefined && kept.sessionId !== plans.sessionId) throw elsewhere(planId);
  if (!server.isOwn) {
    // The server spends it, and has the last word.
    const token = named.token ?? (kept?.runToken === undefined ? kept?.approvalToken : undefined);
    if (token === undefined) throw notApproved(planId);
    const digest = named.digest ?? kept?.digest ?? (await plans.get(planId, { signal })).digest;
    return { digest, token, kept };
  }
  if (kept === undefined || kept.runToken !== undefined) throw notApproved(planId);
  checkNamed(named, kept);
  if (!(await tokens.take(planId))) throw notApproved(planId);
  if (!tokens.isFresh(kept)) throw refused("The approval has expired.", planId);
  const { plan, actions } = await plans.preview(planId, { signal });
  if (plan.digest !== kept.digest || seen(actions, place) !== kept.seenSha256) {
    throw refused("The workspace, its HEAD or its rules changed since the plan was approved.", planId);
  }
  const { approvalToken: token } = await plans.approve(planId, kept.digest, { signal });
  return { digest: kept.digest, token, kept };
}

/** After the run has begun: what `verify` needs. */
export async function keepForVerification(
  planId: string,
  { digest, token, kept }: UsableApproval,
  plans: SessionPlans,
  { tokens }: PlanPlace,
): Promise<void> {
  const record = kept ?? {
    ...{ sessionId: plans.sessionId, digest, approvalToken: token, seenSha256: "" },
    approved: { monotonic: 0, wall: 0 },
  };
  await tokens.keepSpent(planId, { ...record, runToken: token });
}

/** The token that opened the run. Throws `CliError` when the one that was named did not. */
export async function verificationToken(
  named: Named,
  plans: SessionPlans,
  { signal, tokens }: PlanPlace,
): Promise<{ readonly digest: string; readonly token: string }> {
  const kept = await tokens.find(named.planId);
  const token = named.token === undefined || named.token === kept?.approvalToken ? kept?.runToken : named.token;
  if (token === undefined) {
    throw new CliError(`There is no run of the plan ${terminalSafe(named.planId)} to verify here.`, {
      exitCode: exitCode.refused,
      next: [
        `gennai plan execute ${terminalSafe(named.planId)}`,
        "or name the token that its run was opened with: --token.",
      ],
    });
  }
  if (kept !== undefined && kept.sessionId !== plans.sessionId) throw elsewhere(named.planId);
  const digest = named.digest ?? kept?.digest ?? (await plans.get(named.planId, { signal })).digest;
  return { digest, token };
}

function checkNamed({ planId, token, digest }: Named, kept: KeptApproval): void {
  if (token !== undefined && token !== kept.approvalToken)
    throw refused("This is no approval token of this plan.", planId);
  if (digest !== undefined && digest !== kept.digest) throw refused("The approval is for another digest.", planId);
}

/** What the person had before their eyes: every difference and verdict, and the commit it is about. */
function seen(actions: readonly PlannedAction[], { workspace }: PlanPlace): string {
  const shown = actions.map(({ change, ...rest }) => ({
    ...rest,
    change: change === undefined ? null : { path: change.path, base: change.baseSha256, diff: change.unifiedDiff },
  }));
  return digestOf({ shown, head: { ...readGitHead(workspace) } });
}

function notApproved(planId: string): CliError {
  return refused(`There is no approval of the plan ${terminalSafe(planId)} here, or it was used already.`, planId);
}

function elsewhere(planId: string): CliError {
  return refused("The approval belongs to another session.", planId);
}

function refused(message: string, planId: string): CliError {
  return new CliError(message, {
    exitCode: exitCode.refused,
    next: [`Look at it, and approve it if it still waits for that: gennai plan approve ${terminalSafe(planId)}`],
  });
}
