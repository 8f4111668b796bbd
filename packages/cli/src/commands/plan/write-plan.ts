import type { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionPlans, SubmittedPlan } from "@gennai/client/session-plans";
import type { TurnReport } from "@gennai/client/view/turn-report";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { planScenarioName } from "@gennai/protocol/model/governance/plan";
import { correctionRequestText } from "@gennai/protocol/plan-correction";
import { runTurn } from "../../client/run-turn.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import type { PlanTerminal } from "./plan-context.ts";

/** The result of a request: a stored plan, or the model's text about why there is none. */
export interface WrittenPlan extends SubmittedPlan {
  /** What the model wrote. */
  readonly raw: string;
}

export interface WriteOptions {
  /** Runs a turn in plan mode, whose answer is for the server. */
  readonly ask: (text: string) => Promise<TurnReport>;
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Has a plan written. If the answer is not a valid one, the model is told what is wrong and asked once more. */
export async function writePlan(plans: SessionPlans, request: string, options: WriteOptions): Promise<WrittenPlan> {
  const first = await ask(request, plans, options);
  if (first.issues.length === 0) return first;
  options.note(`The answer is not a valid plan (${first.issues.length} issue(s)); asking once more.`);
  const second = await ask(correctionRequestText(first.issues), plans, options);
  // If the second answer has neither a plan nor issues, the first one's issues say more.
  return second.plan === undefined && second.issues.length === 0 ? first : second;
}

async function ask(text: string, plans: SessionPlans, { ask: run, signal }: WriteOptions): Promise<WrittenPlan> {
  const { outcome, text: raw } = await run(text);
  if (outcome !== "completed") {
    throw new CliError(`The turn that should write the plan ended: ${outcome}.`, {
      exitCode: outcome === "cancelled" ? exitCode.interrupted : exitCode.failed,
      next: ["Run the command again."],
    });
  }
  return { raw, ...(await plans.submit(raw, { signal })) };
}

/** Asks at a terminal that shows the turn, but for the envelope: a person sees the plan. */
export function askingAt(session: AgentSession, { terminal, interrupts, signal }: PlanTerminal): WriteOptions {
  const view = {
    ...terminal.view,
    show: (event: InvokeEvent) => {
      if (isEnvelope(event)) terminal.view.session.apply(event);
      else terminal.view.show(event);
    },
  };
  return {
    ask: (text) =>
      runTurn(session, { text, scenario: planScenarioName, enableThinking: true }, { view, interrupts, signal }),
    note: (text) => terminal.view.note(text),
    signal,
  };
}

function isEnvelope({ event }: InvokeEvent): boolean {
  return event.case === "assistantDelta" || event.case === "final";
}
