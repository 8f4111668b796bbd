import { type Plan, type PlanStep, SessionPlans } from "@gennai/client/plan";
import { AgentSession } from "@gennai/client/session";
import { prepareAgentBranch } from "../../client/agent-branch.ts";
import { CliError } from "../../errors/cli-error.ts";
import { type ExitCode, exitCode } from "../../errors/exit-code.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { parseBackend, usageError } from "../run/run-options.ts";
import { listSessions } from "../sessions/sessions-commands.ts";
import { keepApproval, keepForVerification, refusedRun, takeApproval, verificationToken } from "./plan-approval.ts";
import { openPlanPlace, type PlanFlags, type PlanPlace, plansWith, whileAttended } from "./plan-place.ts";
import {
  describeActions,
  describeIssues,
  describeOutcome,
  describePlan,
  describeResults,
  planLine,
} from "./plan-text.ts";
import { writePlan } from "./write-plan.ts";

/** `gennai plan new "<request>"`: the model writes a plan; the server holds it as a draft. Nothing runs. */
export async function planNewCommand(request: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  if (request.trim() === "")
    throw usageError("The request is empty.", 'For example: gennai plan new "rename a to b in src/**"');
  const model = modelOf(flags);
  if (flags.session === undefined) await ontoBranch(request, flags, console);
  await using place = await openPlanPlace(flags, console, { model });
  const { desk, workspace } = place;
  const session = await openPlanSession(place, { ...model, workingDir: workspace }, flags.session);
  const written = await writePlan(session, request, place);
  const { sessionId } = session;
  if (flags.json === true) desk.writeJson({ sessionId, ...written });
  if (written.plan === undefined) {
    if (flags.json !== true) writeNoPlan(written, place);
    return written.envelopeKind === "chat" ? exitCode.ok : exitCode.failed;
  }
  if (flags.json !== true) {
    desk.write(describePlan(written.plan, desk.paint));
    desk.view.note(`Session ${sessionId} · next: gennai plan preview ${written.plan.planId}`);
  }
  return exitCode.ok;
}

/** `gennai plan preview ID`: real diffs and the rules' word on every action. Nothing runs. */
export async function planPreviewCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanPlace(flags, console);
  const { desk, signal } = place;
  const plans = await plansWith(planId, flags, place);
  const { plan, actions } = await plans.preview(planId, { signal });
  if (flags.json === true) desk.writeJson({ sessionId: plans.sessionId, plan, actions });
  else {
    desk.write(describePlan(plan, desk.paint) + describeActions(actions, desk.paint));
    if (plan.state === "awaiting_approval")
      desk.view.note(`Next: gennai plan approve ${planId} --digest ${plan.digest}`);
  }
  return actions.some(({ verdict }) => verdict === "deny") ? exitCode.refused : exitCode.ok;
}

/** `gennai plan approve ID`: a person's word for exactly one digest. The token goes to the state directory. */
export async function planApproveCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanPlace(flags, console);
  const { desk, signal } = place;
  const plans = await plansWith(planId, flags, place);
  const { plan, actions } = await plans.preview(planId, { signal });
  if (flags.digest !== undefined && flags.digest !== plan.digest) {
    throw new CliError("The plan is not the one you looked at: its digest is another.", {
      exitCode: exitCode.refused,
      next: [`Look at it again: gennai plan preview ${planId}`, `Its digest is ${plan.digest}.`],
    });
  }
  if (flags.json !== true) desk.write(describePlan(plan, desk.paint) + describeActions(actions, desk.paint));
  if (flags.digest === undefined) await requireYes(plan, place, flags);
  const { approvalToken, expires } = await keepApproval(plan, plans, place);
  const facts = { sessionId: plans.sessionId, planId, digest: plan.digest };
  if (flags.json === true) desk.writeJson({ ...facts, approvalToken, expires: expires?.toISOString() ?? null });
  else
    desk.view.note(
      `Approved${expires === undefined ? "" : ` until ${expires.toLocaleTimeString()}`} · next: gennai plan execute ${planId}`,
    );
  return exitCode.ok;
}

/** `gennai plan execute ID`: spends the token and runs the plan; what the server asks is asked here. */
export async function planExecuteCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanPlace(flags, console);
  const { desk } = place;
  const plans = await plansWith(planId, flags, place);
  const approval = await takeApproval(named(planId, flags), plans, place);
  const { digest, token } = approval;
  const session = await openPlanSession(place, {}, plans.sessionId);
  const plan = await whileAttended(session, place, (signal) =>
    plans.execute(planId, digest, token, { signal }).catch((error: unknown) => {
      throw refusedRun(error);
    }),
  );
  await keepForVerification(planId, approval, plans, place);
  if (flags.json === true) desk.writeJson({ result: { sessionId: plans.sessionId, plan } });
  else {
    desk.write(describePlan(plan, desk.paint) + describeOutcome(plan, desk.paint));
    if (plan.executed) desk.view.note(`Next: gennai plan verify ${planId}`);
  }
  return executionCode(plan);
}

/** `gennai plan verify ID`: really runs the verification commands. */
export async function planVerifyCommand(planId: string, flags: PlanFlags, console: Console): Promise<ExitCode> {
  await using place = await openPlanPlace(flags, console);
  const { desk, tokens } = place;
  const plans = await plansWith(planId, flags, place);
  const { digest, token } = await verificationToken(named(planId, flags), plans, place);
  const session = await openPlanSession(place, {}, plans.sessionId);
  const { plan, results } = await whileAttended(session, place, (signal) =>
    plans.verify(planId, digest, token, { signal }),
  );
  await tokens.take(planId);
  if (flags.json === true) desk.writeJson({ result: { sessionId: plans.sessionId, plan, results } });
  else desk.write(describeResults(results, desk.paint) + describeOutcome(plan, desk.paint));
  return plan.verified ? exitCode.ok : exitCode.failed;
}

/** `gennai plan status [ID]`: one plan whole, or the plans of a session, or of the workspace's newest sessions. */
export async function planStatusCommand(
  planId: string | undefined,
  flags: PlanFlags,
  console: Console,
): Promise<ExitCode> {
  await using place = await openPlanPlace(flags, console);
  const { desk, server, signal, workspace } = place;
  if (planId !== undefined) {
    const plans = await plansWith(planId, flags, place);
    const plan = await plans.get(planId, { signal });
    if (flags.json === true) desk.writeJson({ sessionId: plans.sessionId, plan });
    else desk.write(describePlan(plan, desk.paint) + describeOutcome(plan, desk.paint));
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
      if (flags.json === true) desk.writeJson({ sessionId, plan });
      else desk.write(planLine(plan));
    }
  }
  if (found === 0 && flags.json !== true) desk.write('No plans yet. Make one: gennai plan new "…"\n');
  return exitCode.ok;
}

const shownSessions = 10;

/** What a run that ended is to its caller: only a whole one is a success, and a refusal is told apart. */
export function executionCode(plan: Plan): ExitCode {
  if (plan.executed && !["failed", "partial", "interrupted"].includes(plan.state)) return exitCode.ok;
  return plan.steps.some(isRefused) ? exitCode.refused : exitCode.failed;
}

function isRefused({ failureClass }: PlanStep): boolean {
  return failureClass === "permission_denied";
}

/** On a terminal a person is asked. Where nobody is, the command line is the word, but never for what is of high risk. */
export async function requireYes(
  plan: Plan,
  { desk, signal }: Pick<PlanPlace, "desk" | "signal">,
  flags: Pick<PlanFlags, "yes">,
): Promise<void> {
  const isHigh = plan.steps.some(({ risk }) => risk === "high");
  if (desk.input !== undefined && !(flags.yes === true && !isHigh)) {
    const answer = await desk.input.question(`Approve exactly this plan (${plan.digest.slice(0, 12)}…)? y/N > `, {
      signal,
    });
    if (/^\s*y(es)?\s*$/i.test(answer ?? "")) return;
    throw new CliError("The plan was not approved; it stays as it is.", {
      exitCode: exitCode.refused,
      next: [`gennai plan status ${terminalSafe(plan.planId)}`],
    });
  }
  if (!isHigh) return;
  throw new CliError("The plan has steps of high risk, and nobody can be asked here.", {
    exitCode: exitCode.refused,
    next: [
      `Look at it, then name what you approve: gennai plan approve ${terminalSafe(plan.planId)} --digest ${plan.digest}`,
    ],
  });
}

/** A session for plans, named or new. Somebody answers its questions: the desk that runs them. */
export async function openPlanSession(
  { desk, server, signal }: PlanPlace,
  settings: Parameters<AgentDesk["openSession"]>[1]["settings"],
  resume?: string,
): Promise<AgentSession> {
  if (resume !== undefined) return desk.openSession(server, { resume, settings: {}, signal });
  return AgentSession.start(server.client, desk.identity(), settings, { interactive: true, signal });
}

type AgentDesk = PlanPlace["desk"];

/** Plans change files on a branch of the agent's, as `gennai run` does. */
async function ontoBranch(request: string, flags: PlanFlags, console: Console): Promise<void> {
  const { name, how } = await prepareAgentBranch({
    workspace: await resolveWorkspace(flags.workspace, console),
    request,
    protect: flags.protect ?? [],
    signal: new AbortController().signal,
    ...(flags.branch === undefined ? {} : { branch: flags.branch }),
  });
  if (how !== "kept") console.errors.write(`Branch ${terminalSafe(name)} (${how})\n`);
}

function named(planId: string, { token, digest }: PlanFlags) {
  return { planId, token, digest };
}

function modelOf(flags: PlanFlags) {
  const backend = parseBackend(flags.backend);
  return {
    ...(backend === undefined ? {} : { backend }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
  };
}

/** The model answered with something else than a plan. */
export function writeNoPlan(
  written: {
    readonly raw: string;
    readonly issues: Parameters<typeof describeIssues>[0];
    readonly envelopeKind: string;
  },
  { desk }: Pick<PlanPlace, "desk">,
): void {
  if (written.issues.length > 0) {
    desk.write(`${desk.paint("red", "The model gave no valid plan:")}\n${describeIssues(written.issues, desk.paint)}`);
    return;
  }
  desk.write(`${terminalSafe(wordsOf(written.raw))}\n`);
}

/** What a chat or error envelope says. */
function wordsOf(raw: string): string {
  const found = /"(?:text|message)"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(raw)?.[1];
  const words: unknown = found === undefined ? raw : JSON.parse(found);
  return typeof words === "string" ? words : raw;
}
