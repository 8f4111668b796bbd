import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { PlanApproval } from "@gennai/governance/plan-change";
import { type StepContract, toolOfAction } from "@gennai/governance/step-contract";
import type { ParsedPlan } from "@gennai/protocol/plan-schema";
import type { Session } from "../session/session.ts";
import type { Inspection } from "./inspect-plan.ts";
import type { PlanAnswers } from "./plan-answers.ts";
import { planRefusal } from "./plan-refusal.ts";

/** Milliseconds in which a disconnected client may come back during a run without a user. */
const comingBackMs = 5_000;

/**
 * How long questions of a run wait for a client. A user who approved without a credential cannot answer, and may not know of
 * the question: such a run does not wait for a client to attach.
 */
export function waitingFor(channel: PlanApproval["channel"]): { readonly waitForClientMs?: number } {
  return channel === "loopback" ? { waitForClientMs: comingBackMs } : {};
}

/** The first action that is asked about although the plan was approved, in words; undefined if there is none. */
export function asksAgain({ actions }: Inspection, { plan }: ParsedPlan, answers: PlanAnswers): string | undefined {
  const found = actions.find(({ stepId, actionIndex, verdict, risk }) => {
    const action = plan.steps.find(({ id }) => id === stepId)?.actions[actionIndex];
    return verdict === "ask" && action !== undefined && answers.asksAgain({ tool: toolOfAction(action), risk });
  });
  if (found === undefined) return undefined;
  const what = found.command ?? found.change?.path ?? "";
  return `Step ${JSON.stringify(found.stepId)}, action ${found.actionIndex + 1} (${what})`;
}

/** The same for the plan's verification commands. */
export async function verificationAsksAgain(
  tools: GovernedTools,
  plan: {
    readonly steps: readonly StepContract[];
    readonly answers: PlanAnswers;
    readonly turnId: string;
    readonly signal: AbortSignal;
  },
): Promise<string | undefined> {
  const { steps, answers, turnId, signal } = plan;
  for (const { id, verificationPlan } of steps) {
    for (const command of verificationPlan) {
      const call = { id: "verification", name: "Bash", argumentsJson: JSON.stringify({ command }) };
      const decided = await tools.decide(call, { turnId, signal });
      if (decided.type !== "decided" || decided.verdict.type !== "ask") continue;
      if (answers.asksAgain({ tool: "Bash", risk: decided.risk }))
        return `The verification of step ${JSON.stringify(id)} (${command})`;
    }
  }
  return undefined;
}

/**
 * Throws `nobody_to_ask` if a run would have to ask but nobody can answer; nothing was run or spent then. A user who approved
 * with a credential can answer.
 * @param question what is asked about
 */
export async function assertSomebodyCanAnswer(
  session: Session,
  channel: PlanApproval["channel"],
  question: string | undefined,
): Promise<void> {
  if (question === undefined || channel !== "loopback" || session.clients.can("confirmation")) return;
  const { redactor } = session.services;
  throw planRefusal(
    "nobody_to_ask",
    `${await redactor.redact(question)} needs another answer of a person, and no client that can answer is open. Nothing was run, and the approval is still valid.`,
    `Open the session ${session.id} where you can answer, e.g. by gennai open, then do this again.`,
  );
}
