import { listSessions } from "@gennai/client/session/session-list";
import { SessionPlans } from "@gennai/client/session-plans";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import { branchTitle, prepareAgentBranch } from "../../client/agent-branch.ts";
import { activeIntent, intentTitle } from "../../client/session-intent.ts";
import { whileAttended } from "../../client/while-attended.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { asTyped, type Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { utcTime } from "../../terminal/utc-time.ts";
import { type Said, said } from "../command-host.ts";
import { modelChoice } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import {
  dropRefused,
  isFirstRun,
  keepApproval,
  keepForVerification,
  refusedRun,
  requireYes,
  takeApproval,
  verificationToken,
  waitingApproval,
} from "./plan-approval.ts";
import { openPlanContext, openPlanSession, type PlanContext, type PlanFlags, plansWith } from "./plan-context.ts";
import { executionCode } from "./plan-exit-code.ts";
import {
  describeActions,
  describeNoPlan,
  describeOutcome,
  describePlan,
  describeResults,
  planLine,
} from "./plan-text.ts";
import { askingAt, writePlan } from "./write-plan.ts";

/** `gennai plan new "<request>"`: the model writes a plan; the server holds it as a draft. Nothing runs. */
export async function planNewCommand(request: string, flags: PlanFlags, console: Console): Promise<Said> {
  if (request.trim() === "")
    throw usageError("The prompt is empty.", 'For example: gennai plan new "rename a to b in src/**"');
  const model = modelChoice(flags);
  if (flags.session === undefined) await ontoBranch(request, flags, console);
  await using place = await openPlanContext(flags, console, { model });
  const { terminal, workspace } = place;
  const { paint } = terminal;
  const session = await openPlanSession(place, { ...model, workingDir: workspace }, flags.session);
  const { sessionId } = session;
  const written = await writePlan(new SessionPlans(place.server.plans, sessionId), request, askingAt(session, place));
  terminal.printer.breakLine();
  const { plan } = written;
  const json = { sessionId, ...written };
  if (plan === undefined) {
    const code = written.envelopeKind === "chat" ? exitCode.ok : exitCode.failed;
    return said(json, describeNoPlan(written, paint), code);
  }
  const notes = [
    ...(await intentHere(sessionId, place)),
    `Session ${sessionId} · next: gennai plan preview ${plan.planId}`,
  ];
  return said(json, describePlan(plan, paint) + noted(notes, place));
}

/** `gennai plan preview ID`: real diffs, and the rules' verdict on every action. Nothing runs. */
export async function planPreviewCommand(planId: string, flags: PlanFlags, console: Console): Promise<Said> {
  await using place = await openPlanContext(flags, console);
  const { signal } = place;
  const { paint } = place.terminal;
  const plans = await plansWith(planId, flags, place);
  const { sessionId } = plans;
  const { plan, actions } = await plans.preview(planId, { signal });
  // A person approves what was shown, so a new preview voids the approval.
  if (isFirstRun(await place.tokens.find(planId))) await place.tokens.take(planId);
  const notes = await intentHere(sessionId, place);
  if (plan.state === "awaiting_approval") notes.push(`Next: gennai plan approve ${planId} --digest ${plan.digest}`);
  const text = describePlan(plan, paint) + describeActions(actions, paint) + noted(notes, place);
  return said({ sessionId, plan, actions }, text, plan.state === "preview" ? exitCode.refused : exitCode.ok);
}

/** `gennai plan approve ID`: a person approves exactly one digest. The token is kept in the state directory. */
export async function planApproveCommand(planId: string, flags: PlanFlags, console: Console): Promise<Said> {
  await using place = await openPlanContext(flags, console);
  const { terminal, signal } = place;
  const plans = await plansWith(planId, flags, place);
  const { sessionId } = plans;
  const waiting = await waitingApproval(planId, flags.digest, plans, place);
  if (waiting !== undefined) {
    const { digest, approvalToken } = waiting;
    const expires = new Date(waiting.expires);
    const note = `It is approved already, until ${utcTime(expires)}, and was not run yet; nothing changed. Next: gennai plan execute ${planId}`;
    return said({ sessionId, planId, digest, approvalToken, expires: expires.toISOString() }, noted([note], place));
  }
  const { plan, actions } = await plans.preview(planId, { signal });
  if (flags.digest !== undefined && flags.digest !== plan.digest) {
    throw new CliError("The plan is not the one you looked at: its digest differs.", {
      exitCode: exitCode.refused,
      next: [`Look at it again: gennai plan preview ${planId}`, `Its digest is ${plan.digest}.`],
    });
  }
  if (flags.json !== true)
    terminal.write(describePlan(plan, terminal.paint) + describeActions(actions, terminal.paint));
  if (plan.state === "preview") {
    throw new CliError(`The rules deny part of this plan. ${plan.remediation}`, {
      exitCode: exitCode.refused,
      next: ['gennai plan new "…"'],
    });
  }
  if (flags.digest === undefined) await requireYes(plan, place, flags);
  const { approvalToken, expires } = await keepApproval(plan, plans, place);
  const until = expires === undefined ? "" : ` until ${utcTime(expires)}`;
  return said(
    { sessionId, planId, digest: plan.digest, approvalToken, expires: expires?.toISOString() ?? null },
    noted([`Approved${until} · next: gennai plan execute ${planId}`], place),
  );
}

/** `gennai plan execute ID`: spends the token and runs the plan; the server's questions are answered here. */
export async function planExecuteCommand(planId: string, flags: PlanFlags, console: Console): Promise<Said> {
  await using place = await openPlanContext(flags, console);
  const { paint, printer } = place.terminal;
  const plans = await plansWith(planId, flags, place);
  const { sessionId } = plans;
  const approval = await takeApproval(named(planId, flags), plans, place);
  const { digest, token } = approval;
  const session = await openPlanSession(place, {}, sessionId);
  const plan = await whileAttended(session, place, (signal) =>
    plans.execute(planId, digest, token, { signal }).catch(async (error: unknown) => {
      await dropRefused(error, planId, approval, place);
      throw refusedRun(error);
    }),
  );
  await keepForVerification(planId, approval, plans, place);
  printer.breakLine();
  const next = plan.executed ? [`Next: gennai plan verify ${planId}`] : [];
  const text = describePlan(plan, paint) + describeOutcome(plan, paint) + noted(next, place);
  return said({ result: { sessionId, plan } }, text, executionCode(plan));
}

/** `gennai plan verify ID`: runs the verification commands. */
export async function planVerifyCommand(planId: string, flags: PlanFlags, console: Console): Promise<Said> {
  await using place = await openPlanContext(flags, console);
  const { paint, printer } = place.terminal;
  const plans = await plansWith(planId, flags, place);
  const { sessionId } = plans;
  const { digest, token } = await verificationToken(named(planId, flags), plans, place);
  const session = await openPlanSession(place, {}, sessionId);
  const { plan, results } = await whileAttended(session, place, (signal) =>
    plans.verify(planId, digest, token, { signal }),
  );
  await place.tokens.take(planId);
  printer.breakLine();
  const text = describeResults(results, paint) + describeOutcome(plan, paint);
  return said({ result: { sessionId, plan, results } }, text, plan.verified ? exitCode.ok : exitCode.failed);
}

/** `gennai plan status [ID]`: one plan whole, or the plans of a session, or of the workspace's newest sessions. */
export async function planStatusCommand(planId: string | undefined, flags: PlanFlags, console: Console): Promise<Said> {
  await using place = await openPlanContext(flags, console);
  const { terminal, server, signal, workspace } = place;
  const { paint } = terminal;
  if (planId !== undefined) {
    const plans = await plansWith(planId, flags, place);
    const plan = await plans.get(planId, { signal });
    return said({ sessionId: plans.sessionId, plan }, describePlan(plan, paint) + describeOutcome(plan, paint));
  }
  const { session } = flags;
  const known =
    session === undefined
      ? (await listSessions(server.client, workspace, { signal })).slice(0, shownSessions)
      : [{ sessionId: session }];
  const rows: { readonly sessionId: string; readonly plan: Plan }[] = [];
  for (const { sessionId } of known) {
    for (const plan of await new SessionPlans(server.plans, sessionId).list({ signal })) rows.push({ sessionId, plan });
  }
  const none = asTyped('No plans yet. Make one: gennai plan new "…"', console.environment);
  return { rows, text: rows.map(({ plan }) => planLine(plan)).join("") || `${none}\n` };
}

const shownSessions = 10;

/** The intent under which the plan would run, as a note. */
async function intentHere(sessionId: string, { server, signal }: PlanContext): Promise<string[]> {
  const intent = await activeIntent({ governance: server.governance, sessionId, signal });
  return intent === undefined ? [] : [`intent ${intentTitle(intent)}`];
}

/** Remarks of this program, a line each. */
function noted(
  notes: readonly string[],
  { terminal, environment }: Pick<PlanContext, "terminal" | "environment">,
): string {
  return notes.map((note) => `${terminal.paint("dim", asTyped(note, environment))}\n`).join("");
}

/** Plans change files on a branch of the agent's, as `gennai run` does. */
async function ontoBranch(request: string, flags: PlanFlags, console: Console): Promise<void> {
  const branch = await prepareAgentBranch({
    workspace: await resolveWorkspace(flags.workspace, console),
    request,
    protect: flags.protect ?? [],
    signal: new AbortController().signal,
    ...(flags.branch === undefined ? {} : { branch: flags.branch }),
  });
  if (branch.how !== "kept") console.errors.write(`${branchTitle(branch)}\n`);
}

function named(planId: string, { token, digest }: PlanFlags) {
  return { planId, token, digest };
}
