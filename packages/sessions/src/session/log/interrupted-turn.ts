import type { SessionEvent } from "@gennai/agent/session-event";
import type { SessionState } from "../session-state.ts";
import { interruptedPlans } from "./interrupted-plans.ts";
import type { SessionWriter } from "./session-writer.ts";

/**
 * Ends a turn whose process went away: its open requests are void, and what a started call did is not known, which the
 * log and the ledger say.
 */
export async function closeInterruptedTurn(
  state: SessionState,
  writer: SessionWriter,
  context: { readonly sessionId: string; readonly now: () => number },
): Promise<void> {
  const turn = state.openTurn;
  if (turn === undefined) return;
  const events: SessionEvent[] = [];
  for (const requestId of state.openRequests.keys()) {
    events.push({ type: "client-request-resolved", requestId, resolution: "cancelled", clientId: "" });
  }
  events.push(
    ...interruptedPlans(state, turn.turnId),
    {
      type: "error",
      code: "interrupted",
      message: "The server went away during this turn. What was under way may or may not have taken effect.",
      hint: "Look at the workspace, then ask again.",
      retryable: true,
    },
    { type: "status", state: "interrupted", iteration: 0 },
  );
  await writer.commit(events, {
    turnId: turn.turnId,
    ledger: [
      {
        kind: "outcome",
        time: context.now(),
        sessionId: context.sessionId,
        turnId: turn.turnId,
        modelId: "",
        revision: "",
        calls: [],
        files: [],
        details: { interrupted: true, failureClass: "partial_execution" },
      },
    ],
    durable: true,
  });
}
