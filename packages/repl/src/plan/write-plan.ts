import type { CallOptions } from "@gennai/client/connection/connection";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { turnAnswer } from "@gennai/client/session/watched-turn";
import { planScenarioName } from "@gennai/protocol/model/governance/plan";

/** Runs a turn in plan mode and resolves with what the model wrote. Rejects if the turn does not complete. */
export async function writePlan(session: AgentSession, text: string, { signal }: CallOptions): Promise<string> {
  const request = { text, scenario: planScenarioName };
  const answer = await turnAnswer(session, request, { as: "plan", signal, onAbort: "leave" });
  if (answer === undefined) throw new Error("The turn that should write the plan was ended.");
  return answer;
}
