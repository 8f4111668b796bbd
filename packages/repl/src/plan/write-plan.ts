import type { ClientIdentity } from "@gennai/client/connection/client-identity";
import type { AgentClient } from "@gennai/client/connection/connection";
import type { PlanIssue } from "@gennai/client/plan";
import { subscribe } from "@gennai/client/session/subscription";
import { turnOutcome } from "@gennai/client/session/turn-state";

/** The scenario in which a model answers with a plan. */
const planScenarioName = "PLAN";

export interface PlanWriter {
  readonly client: AgentClient;
  readonly sessionId: string;
  readonly identity: ClientIdentity;
}

/** Runs a turn in plan mode and resolves with what the model wrote. Rejects if the turn does not complete. */
export async function writePlan(
  { client, sessionId, identity }: PlanWriter,
  request: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<string> {
  const { turnId, afterSeq } = await client.startTurn(
    {
      sessionId,
      scenario: planScenarioName,
      userInput: request,
      enableThinking: true,
      clientTurnId: crypto.randomUUID(),
    },
    { signal },
  );
  // This client only watches: the app's own subscription answers what the turn asks.
  const watcher = { clientId: `${identity.clientId}-plan`, name: identity.name, version: identity.version };
  let text = "";
  let failure = "";
  for await (const event of subscribe(client, {
    sessionId,
    afterSeq,
    untilTurnId: turnId,
    identity: watcher,
    signal,
  })) {
    if (event.event.case === "final" && event.turnId === turnId) text = event.event.value.text;
    if (event.event.case === "error" && event.turnId === turnId) failure = event.event.value;
    const outcome = event.turnId === turnId ? turnOutcome(event) : undefined;
    if (outcome === "completed") return text;
    if (outcome !== undefined) throw new Error(failure || `The turn that should write the plan ended: ${outcome}.`);
  }
  throw new Error("The turn that should write the plan was cut off.");
}

/** The text that asks for the same plan again, in a valid form. */
export function strictRequest(issues: readonly PlanIssue[]): string {
  const lines = issues
    .slice(0, 50)
    .map(({ path, message }) => (path === "" || message.includes(path) ? message : `${path}: ${message}`));
  return `Your last answer is not a plan that could be approved:\n${lines.map((line) => `- ${line}`).join("\n")}\nAnswer again with the whole envelope, mended, as one JSON object and nothing else.`;
}
