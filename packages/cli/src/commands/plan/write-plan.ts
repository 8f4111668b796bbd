import { planScenarioName } from "@gennai/agent/scenarios/parse-scenarios";
import { correctionRequestText } from "@gennai/agent/scenarios/plan-correction";
import type { SubmittedPlan } from "@gennai/client/plan";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { SessionPlans } from "@gennai/client/session-plans";
import type { TurnReport } from "@gennai/client/view/turn-report";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { runTurn } from "../../client/run-turn.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import type { PlanTerminal } from "./plan-context.ts";

/** The result of a request: a stored plan, or the model's text about why there is none. */
export interface WrittenPlan extends SubmittedPlan {
  /** What the model wrote. */
  readonly raw: string;
}

/** Runs a turn in plan mode. If the answer is not a valid plan, the model is told what is wrong and asked once more. */
export async function writePlan(session: AgentSession, request: string, place: PlanTerminal): Promise<WrittenPlan> {
  const plans = new SessionPlans(place.server.plans, session.sessionId);
  const first = await ask(session, request, plans, place);
  if (first.issues.length === 0) return first;
  place.terminal.view.note(`The answer is not a valid plan (${first.issues.length} issue(s)); asking once more.`);
  const second = await ask(session, correctionRequestText(first.issues), plans, place);
  // If the second answer has neither a plan nor issues, the first one's issues say more.
  return second.plan === undefined && second.issues.length === 0 ? first : second;
}

async function ask(
  session: AgentSession,
  text: string,
  plans: SessionPlans,
  { terminal, interrupts, signal }: PlanTerminal,
): Promise<WrittenPlan> {
  // The envelope is for the server; a person sees the plan.
  const view = {
    ...terminal.view,
    show: (event: InvokeEvent) => {
      if (isEnvelope(event)) terminal.view.session.apply(event);
      else terminal.view.show(event);
    },
  };
  const report = await runTurn(
    session,
    { text, scenario: planScenarioName, enableThinking: true },
    { view, interrupts, signal },
  );
  if (report.outcome !== "completed") throw turnFailed(report, interrupts.interrupted);
  return { raw: report.text, ...(await plans.submit(report.text, { signal })) };
}

function isEnvelope({ event }: InvokeEvent): boolean {
  return event.case === "assistantDelta" || event.case === "final";
}

function turnFailed({ outcome }: TurnReport, interrupted: boolean): CliError {
  return new CliError(`The turn that should write the plan ended: ${outcome}.`, {
    exitCode: interrupted ? exitCode.interrupted : exitCode.failed,
    next: ["Run the command again."],
  });
}
