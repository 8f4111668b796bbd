import type { CallOptions } from "@gennai/client/connection/connection";
import type { PlanIssue } from "@gennai/client/plan";
import type { AgentSession } from "@gennai/client/session/agent-session";
import { turnAnswer } from "@gennai/client/session/watched-turn";

/** The scenario in which a model answers with a plan. */
const planScenarioName = "PLAN";

/** Runs a turn in plan mode and resolves with what the model wrote. Rejects if the turn does not complete. */
export async function writePlan(session: AgentSession, text: string, { signal }: CallOptions): Promise<string> {
  const request = { text, scenario: planScenarioName };
  const answer = await turnAnswer(session, request, { as: "plan", signal, onAbort: "leave" });
  if (answer === undefined) throw new Error("The turn that should write the plan was ended.");
  return answer;
}

/** The text that asks for the same plan again, in a valid form. */
export function strictRequest(issues: readonly PlanIssue[]): string {
  const lines = issues
    .slice(0, 50)
    .map(({ path, message }) => (path === "" || message.includes(path) ? message : `${path}: ${message}`));
  return `Your last answer is not a plan that could be approved:\n${lines.map((line) => `- ${line}`).join("\n")}\nAnswer again with the whole envelope, mended, as one JSON object and nothing else.`;
}
