import { Code, ConnectError } from "@connectrpc/connect";
import type { SessionPlans } from "@gennai/client/session-plans";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { asCliError, CliError } from "../../terminal/cli-error.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import type { LineInput } from "../../terminal/line-input.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import type { PlanContext, PlanFlags } from "./plan-context.ts";
import type { KeptApproval } from "./plan-token-files.ts";

/** A token that the server accepts for one plan. */
export interface UsableApproval {
  readonly digest: string;
  readonly token: string;
  /** What the state directory has of this plan's approval; undefined: nothing. */
  readonly kept: KeptApproval | undefined;
}

interface Named {
  readonly planId: string;
  /** Named by the user, in place of what is kept. */
  readonly token: string | undefined;
  readonly digest: string | undefined;
}

/** `--yes` approves a plan without high risk; for any other, a person is asked. Throws `CliError` without an approval. */
export async function requireYes(
  plan: Plan,
  {
    terminal,
    signal,
  }: { readonly terminal: { readonly input: Pick<LineInput, "question"> | undefined }; readonly signal: AbortSignal },
  flags: Pick<PlanFlags, "yes">,
): Promise<void> {
  const isHigh = plan.steps.some(({ risk }) => isAtLeast(risk, "high"));
  if (flags.yes === true && !isHigh) return;
  if (terminal.input === undefined) {
    throw new CliError(
      `${isHigh ? "The plan has steps of high risk, and nobody" : "Nobody"} can be asked here, so it was not approved.`,
      {
        exitCode: exitCode.refused,
        next: [
          `Look at it, then name what you approve: gennai plan approve ${terminalSafe(plan.planId)} --digest ${plan.digest}`,
          ...(isHigh ? [] : ["or say --yes."]),
        ],
      },
    );
  }
  const answer = await terminal.input.question(`Approve exactly this plan (${plan.digest.slice(0, 12)}…)? y/N > `, {
    signal,
  });
  if (/^\s*y(es)?\s*$/i.test(answer ?? "")) return;
  throw new CliError("The plan was not approved; it stays as it is.", {
    exitCode: exitCode.refused,
    next: [`gennai plan status ${terminalSafe(plan.planId)}`],
  });
}

/** Approves the plan and keeps the approval for later commands. Resolves with what `--json` prints. */
export async function keepApproval(
  { planId, digest }: Pick<Plan, "planId" | "digest">,
  plans: SessionPlans,
  place: PlanContext,
): Promise<{ readonly approvalToken: string; readonly expires: Date | undefined }> {
  const approval = await plans.approve(planId, digest, { signal: place.signal });
  const { approvalToken, expires } = approval;
  const kept = { sessionId: plans.sessionId, digest, approvalToken, expires: expires?.getTime() ?? 0 };
  await place.tokens.keep(planId, kept);
  return approval;
}

/**
 * The approval to execute with. The server decides: it keeps approvals in the session's log, so that the person who runs the
 * plan need not be the one who approved it, and each is spent once. Throws `CliError`; then nothing ran.
 */
export async function takeApproval(named: Named, plans: SessionPlans, place: PlanContext): Promise<UsableApproval> {
  const { planId } = named;
  const { signal, tokens } = place;
  const kept = await tokens.find(planId);
  if (kept !== undefined && kept.sessionId !== plans.sessionId) throw elsewhere(planId);
  const token = named.token ?? (kept?.runToken === undefined ? kept?.approvalToken : undefined);
  if (token === undefined) throw notApproved(planId);
  const digest = named.digest ?? kept?.digest ?? (await plans.get(planId, { signal })).digest;
  return { digest, token, kept };
}

/** The pending approval of this plan; undefined if there is none, or if it is for another digest. */
export async function waitingApproval(
  planId: string,
  digest: string | undefined,
  { sessionId }: Pick<SessionPlans, "sessionId">,
  { tokens }: Pick<PlanContext, "tokens">,
): Promise<KeptApproval | undefined> {
  const kept = await tokens.find(planId);
  if (kept === undefined || !isFirstRun(kept) || kept.expires <= Date.now() || kept.sessionId !== sessionId)
    return undefined;
  return digest === undefined || digest === kept.digest ? kept : undefined;
}

/** True if an approval is kept whose plan has not run yet. */
export function isFirstRun(kept: KeptApproval | undefined): boolean {
  return kept !== undefined && kept.runToken === undefined;
}

/** Drops an approval that the server no longer accepts, so that the plan can be approved again. */
export async function dropRefused(
  error: unknown,
  planId: string,
  { token, kept }: UsableApproval,
  { tokens }: Pick<PlanContext, "tokens">,
): Promise<void> {
  const isOurs = isFirstRun(kept) && token === kept?.approvalToken;
  if (isOurs && error instanceof ConnectError && error.code === Code.PermissionDenied) await tokens.take(planId);
}

/** Gives every refusal of a run the exit code for refusals, also if the workspace has changed since the approval. */
export function refusedRun(error: unknown): unknown {
  if (!(error instanceof ConnectError) || error.code !== Code.FailedPrecondition) return error;
  const { message, next } = asCliError(error);
  return new CliError(message, { exitCode: exitCode.refused, next, cause: error });
}

/** Keeps what `verify` needs, after the run has begun. */
export async function keepForVerification(
  planId: string,
  { digest, token, kept }: UsableApproval,
  plans: SessionPlans,
  { tokens }: PlanContext,
): Promise<void> {
  const record = kept ?? { sessionId: plans.sessionId, digest, approvalToken: token, expires: 0 };
  await tokens.keep(planId, { ...record, runToken: token });
}

/** The token that opened the run. Throws `CliError` if the named token did not open it. */
export async function verificationToken(
  named: Named,
  plans: SessionPlans,
  { signal, tokens }: PlanContext,
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
