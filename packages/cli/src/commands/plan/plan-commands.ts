import { listSessions } from "@gennai/client/session/session-list";
import { SessionPlans } from "@gennai/client/session-plans";
import { branchTitle, prepareAgentBranch } from "../../client/agent-branch.ts";
import { activeIntent, intentTitle } from "../../client/session-intent.ts";
import { whileAttended } from "../../client/while-attended.ts";
import { CliError, usageError } from "../../terminal/cli-error.ts";
import { asTyped, type Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import { utcTime } from "../../terminal/utc-time.ts";
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
export async function planNewCommand(request: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  if (request.trim() === "")
    throw usageError("The prompt is empty.", 'For example: gennai plan new "rename a to b in src/**"');
  const model = modelChoice(flags);
  if (flags.session === undefined) await ontoBranch(request, flags, console);
  await using place = await openPlanContext(flags, console, { model });
  const { terminal, workspace } = place;
  const session = await openPlanSession(place, { ...model, workingDir: workspace }, flags.session);
  const written = await writePlan(
    new SessionPlans(place.server.plans, session.sessionId),
    request,
    askingAt(session, place),
  );
  const { sessionId } = session;
  if (flags.json === true) terminal.writeJson({ sessionId, ...written });
  if (written.plan === undefined) {
    if (flags.json !== true) terminal.write(describeNoPlan(written, terminal.paint));
    return written.envelopeKind === "chat" ? exitCode.ok : exitCode.failed;
  }
  if (flags.json !== true) {
    terminal.write(describePlan(written.plan, terminal.paint));
    await noteIntent(sessionId, place);
    terminal.view.note(`Session ${sessionId} · next: gennai plan preview ${written.plan.planId}`);
  }
  return exitCode.ok;
}

/** `gennai plan preview ID`: real diffs, and the rules' verdict on every action. Nothing runs. */
export async function planPreviewCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanContext(flags, console);
  const { terminal, signal } = place;
  const plans = await plansWith(planId, flags, place);
  const { plan, actions } = await plans.preview(planId, { signal });
  // A person approves what was shown, so a new preview voids the approval.
  if (isFirstRun(await place.tokens.find(planId))) await place.tokens.take(planId);
  if (flags.json === true) terminal.writeJson({ sessionId: plans.sessionId, plan, actions });
  else {
    terminal.write(describePlan(plan, terminal.paint) + describeActions(actions, terminal.paint));
    await noteIntent(plans.sessionId, place);
    if (plan.state === "awaiting_approval")
      terminal.view.note(`Next: gennai plan approve ${planId} --digest ${plan.digest}`);
  }
  return plan.state === "preview" ? exitCode.refused : exitCode.ok;
}

/** `gennai plan approve ID`: a person approves exactly one digest. The token is kept in the state directory. */
export async function planApproveCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanContext(flags, console);
  const { terminal, signal } = place;
  const plans = await plansWith(planId, flags, place);
  const waiting = await waitingApproval(planId, flags.digest, plans, place);
  if (waiting !== undefined) {
    const { digest, approvalToken, expires } = waiting;
    const facts = { sessionId: plans.sessionId, planId, digest, approvalToken, expires: expires.toISOString() };
    if (flags.json === true) terminal.writeJson(facts);
    else {
      terminal.view.note(
        `It is approved already, until ${utcTime(expires)}, and was not run yet; nothing changed. Next: gennai plan execute ${planId}`,
      );
    }
    return exitCode.ok;
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
  const facts = { sessionId: plans.sessionId, planId, digest: plan.digest };
  if (flags.json === true) terminal.writeJson({ ...facts, approvalToken, expires: expires?.toISOString() ?? null });
  else
    terminal.view.note(
      `Approved${expires === undefined ? "" : ` until ${utcTime(expires)}`} · next: gennai plan execute ${planId}`,
    );
  return exitCode.ok;
}

/** `gennai plan execute ID`: spends the token and runs the plan; the server's questions are answered here. */
export async function planExecuteCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanContext(flags, console);
  const { terminal } = place;
  const plans = await plansWith(planId, flags, place);
  const approval = await takeApproval(named(planId, flags), plans, place);
  const { digest, token } = approval;
  const session = await openPlanSession(place, {}, plans.sessionId);
  const plan = await whileAttended(session, place, (signal) =>
    plans.execute(planId, digest, token, { signal }).catch(async (error: unknown) => {
      await dropRefused(error, planId, approval, place);
      throw refusedRun(error);
    }),
  );
  await keepForVerification(planId, approval, plans, place);
  if (flags.json === true) terminal.writeJson({ result: { sessionId: plans.sessionId, plan } });
  else {
    terminal.write(describePlan(plan, terminal.paint) + describeOutcome(plan, terminal.paint));
    if (plan.executed) terminal.view.note(`Next: gennai plan verify ${planId}`);
  }
  return executionCode(plan);
}

/** `gennai plan verify ID`: runs the verification commands. */
export async function planVerifyCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanContext(flags, console);
  const { terminal, tokens } = place;
  const plans = await plansWith(planId, flags, place);
  const { digest, token } = await verificationToken(named(planId, flags), plans, place);
  const session = await openPlanSession(place, {}, plans.sessionId);
  const { plan, results } = await whileAttended(session, place, (signal) =>
    plans.verify(planId, digest, token, { signal }),
  );
  await tokens.take(planId);
  if (flags.json === true) terminal.writeJson({ result: { sessionId: plans.sessionId, plan, results } });
  else terminal.write(describeResults(results, terminal.paint) + describeOutcome(plan, terminal.paint));
  return plan.verified ? exitCode.ok : exitCode.failed;
}

/** `gennai plan status [ID]`: one plan whole, or the plans of a session, or of the workspace's newest sessions. */
export async function planStatusCommand(
  planId: string | undefined,
  flags: PlanFlags,
  console: Console,
): Promise<ExitCode> {
  await using place = await openPlanContext(flags, console);
  const { terminal, server, signal, workspace } = place;
  if (planId !== undefined) {
    const plans = await plansWith(planId, flags, place);
    const plan = await plans.get(planId, { signal });
    if (flags.json === true) terminal.writeJson({ sessionId: plans.sessionId, plan });
    else terminal.write(describePlan(plan, terminal.paint) + describeOutcome(plan, terminal.paint));
    return exitCode.ok;
  }
  const sessions =
    flags.session === undefined
      ? (await listSessions(server.client, workspace, { signal }))
          .slice(0, shownSessions)
          .map(({ sessionId }) => sessionId)
      : [flags.session];
  let found = 0;
  for (const sessionId of sessions) {
    for (const plan of await new SessionPlans(server.plans, sessionId).list({ signal })) {
      found += 1;
      if (flags.json === true) terminal.writeJson({ sessionId, plan });
      else terminal.write(planLine(plan));
    }
  }
  if (found === 0 && flags.json !== true)
    terminal.write(asTyped('No plans yet. Make one: gennai plan new "…"\n', console.environment));
  return exitCode.ok;
}

const shownSessions = 10;

/** Shows the intent under which the plan would run. */
async function noteIntent(sessionId: string, { server, terminal, signal }: PlanContext): Promise<void> {
  const intent = await activeIntent({ governance: server.governance, sessionId, signal });
  if (intent !== undefined) terminal.view.note(`intent ${intentTitle(intent)}`);
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
