import { SessionPlans } from "@gennai/client/session-plans";
import type { Plan } from "@gennai/protocol/model/governance/plan";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { branchTitle, prepareAgentBranch } from "../../client/agent-branch.ts";
import { intentOf } from "../../client/session-intent.ts";
import type { UserTerminal } from "../../client/user-terminal.ts";
import { whileAttended } from "../../client/while-attended.ts";
import { asCliError, usageError } from "../../terminal/cli-error.ts";
import { colouredDiff } from "../../terminal/colours.ts";
import type { Console } from "../../terminal/console.ts";
import { type ExitCode, exitCode } from "../../terminal/exit-code.ts";
import type { LineInput } from "../../terminal/line-input.ts";
import { commandsMode } from "../options/option-values.ts";
import { resolveWorkspace } from "../options/resolve-workspace.ts";
import { requireYes } from "../plan/plan-approval.ts";
import { openPlanContext, openPlanSession } from "../plan/plan-context.ts";
import { executionCode } from "../plan/plan-exit-code.ts";
import { describeActions, describeNoPlan, describeOutcome, describePlan, describeResults } from "../plan/plan-text.ts";
import { askingAt, writePlan } from "../plan/write-plan.ts";
import type { RunFlags } from "./run-options.ts";
import { namedSession } from "./session-to-resume.ts";
import { workingTreeDiff } from "./working-tree-diff.ts";

/** `gennai run --mode plan`: the model writes a plan, a person approves it here, the server runs and verifies it. */
export async function planRunCommand(
  request: string,
  settings: SettingsChoice,
  flags: RunFlags,
  console: Console,
): Promise<ExitCode> {
  if (flags.scenario !== undefined) {
    throw usageError(
      "Plan mode has a scenario of its own.",
      'For example: gennai run --mode plan "rename a to b in src/**"',
    );
  }
  const commands = commandsMode(flags);
  const workspace = await resolveWorkspace(flags.workspace, console);
  const branch = await prepareAgentBranch({
    workspace,
    request,
    protect: flags.protect ?? [],
    signal: new AbortController().signal,
    ...(flags.branch === undefined ? {} : { branch: flags.branch }),
  });
  await using place = await openPlanContext(flags, console, { model: settings, commands });
  const { terminal, server, signal } = place;
  terminal.view.note(`${branchTitle(branch)} · plan mode`);
  const session = await openPlanSession(place, { ...settings, workingDir: workspace }, namedSession(flags));
  await intentOf(flags.intent, true, { governance: server.governance, sessionId: session.sessionId, signal });

  const plans = new SessionPlans(server.plans, session.sessionId);
  const written = await writePlan(plans, request, askingAt(session, place));
  if (written.plan === undefined) {
    const code = written.envelopeKind === "chat" ? exitCode.ok : exitCode.failed;
    if (flags.json === true)
      terminal.writeJson({ type: "result", result: { sessionId: session.sessionId, ...written, exitCode: code } });
    else terminal.write(describeNoPlan(written, terminal.paint));
    return code;
  }
  const ended = await approveAndRun(written.plan, plans, place, flags, (work) => whileAttended(session, place, work));
  if (flags.json === true) {
    terminal.writeJson({
      type: "result",
      result: { sessionId: session.sessionId, branch: branch.name, ...ended, exitCode: ended.code },
    });
    return ended.code;
  }
  if (ended.plan.executed) {
    const diff = await workingTreeDiff(workspace, changedPaths(ended.plan), { signal });
    if (diff !== "") terminal.write(`\n${colouredDiff(diff, terminal.paint)}\n\n`);
  }
  terminal.view.note(`Session ${session.sessionId} · gennai plan status ${ended.plan.planId}`);
  return ended.code;
}

/** Where a plan is shown and approved. */
interface ApprovalPlace {
  readonly terminal: Pick<UserTerminal, "paint" | "policy" | "write"> & {
    readonly view: Pick<UserTerminal["view"], "note">;
    readonly input: Pick<LineInput, "question"> | undefined;
  };
  readonly signal: AbortSignal;
}

interface EndedPlan {
  readonly plan: Plan;
  readonly code: ExitCode;
  readonly error?: string;
}

/** Shows a plan with what it would do, asks for a yes to exactly this, and has it run and verified. */
export async function approveAndRun(
  draft: Plan,
  plans: SessionPlans,
  place: ApprovalPlace,
  flags: Pick<RunFlags, "yes">,
  attended: <Result>(work: (signal: AbortSignal) => Promise<Result>) => Promise<Result>,
): Promise<EndedPlan> {
  const { terminal, signal } = place;
  const { plan, actions } = await plans.preview(draft.planId, { signal });
  terminal.write(describePlan(plan, terminal.paint) + describeActions(actions, terminal.paint));
  if (plan.state === "preview") {
    terminal.view.note("The rules refuse part of this plan, so it cannot be approved.");
    return { plan, code: exitCode.refused };
  }
  if (terminal.policy === "nobody") {
    terminal.view.note(
      `Nobody can be asked here. Approve it later: gennai plan approve ${plan.planId} --digest ${plan.digest}`,
    );
    return { plan, code: exitCode.refused };
  }
  try {
    await requireYes(plan, place, flags);
  } catch (error) {
    const { message, exitCode: code } = asCliError(error);
    terminal.view.note(message);
    return { plan, code, error: message };
  }
  const { approvalToken } = await plans.approve(plan.planId, plan.digest, { signal });
  return attended(async () => {
    const run = await plans.execute(plan.planId, plan.digest, approvalToken, { signal });
    if (executionCode(run) !== exitCode.ok) {
      terminal.write(describePlan(run, terminal.paint) + describeOutcome(run, terminal.paint));
      return { plan: run, code: executionCode(run) };
    }
    const { plan: end, results } = await plans.verify(plan.planId, plan.digest, approvalToken, { signal });
    terminal.write(
      describePlan(end, terminal.paint) +
        describeResults(results, terminal.paint) +
        describeOutcome(end, terminal.paint),
    );
    return { plan: end, code: end.verified ? exitCode.ok : exitCode.failed };
  });
}

/** Files that the plan names; commands may have changed others. */
function changedPaths({ planJson }: Plan): readonly string[] {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === "object" && value !== null) {
      if ("type" in value && "path" in value && typeof value.path === "string") found.add(value.path);
      Object.values(value).forEach(visit);
    }
  };
  visit(JSON.parse(planJson));
  return [...found];
}
