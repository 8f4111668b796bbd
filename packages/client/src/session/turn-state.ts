import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** How a turn ended. */
export type TurnOutcome = "completed" | "error" | "cancelled" | "interrupted";

/**
 * The phase of a running turn: started, at the model, in a tool, or waiting: for a user or editor, its working tree, the
 * provider.
 */
export type TurnPhase =
  | "started"
  | "thinking"
  | "calling"
  | "running"
  | "waiting-for-client"
  | "waiting-for-tree"
  | "waiting-for-provider";

/** undefined for the last status of a turn, and for a state that this client does not know. */
export function turnPhase(state: InvokeState): TurnPhase | undefined {
  return phases[state];
}

/** undefined for anything but the last status of a turn. */
export function turnOutcome(event: InvokeEvent): TurnOutcome | undefined {
  if (event.event.case !== "status") return undefined;
  switch (event.event.value.state) {
    case InvokeState.COMPLETED:
      return "completed";
    case InvokeState.ERROR:
      return "error";
    case InvokeState.CANCELLED:
      return "cancelled";
    case InvokeState.INTERRUPTED:
      return "interrupted";
    default:
      return undefined;
  }
}

export function endsTurn(event: InvokeEvent, turnId: string): boolean {
  return event.turnId === turnId && turnOutcome(event) !== undefined;
}

const phases: Partial<Record<InvokeState, TurnPhase>> = {
  [InvokeState.STARTED]: "started",
  [InvokeState.THINKING]: "thinking",
  [InvokeState.WAITING_TOOL_RESULT]: "calling",
  [InvokeState.RUN_TOOL]: "running",
  [InvokeState.WAITING_FOR_CLIENT]: "waiting-for-client",
  [InvokeState.WAITING_FOR_TREE]: "waiting-for-tree",
  [InvokeState.WAITING_FOR_PROVIDER]: "waiting-for-provider",
};
