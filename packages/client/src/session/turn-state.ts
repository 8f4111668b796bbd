import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** How a turn ended. */
export type TurnOutcome = "completed" | "error" | "cancelled" | "interrupted";

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
