import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { TurnEnd } from "@gennai/agent/loop/turn-loop";
import type { Redactor } from "@gennai/governance/redaction";
import { interruption } from "./interrupted-turn.ts";
import type { TurnRecord } from "./state/session-state.ts";

/** The last events of a turn. A model's error may quote the request, including headers, so its text is masked. */
export async function endEvents(
  end: TurnEnd,
  turn: Pick<TurnRecord, "prompt">,
  { signal, redactor }: { readonly signal: AbortSignal; readonly redactor: Redactor },
): Promise<readonly SessionEvent[]> {
  switch (end.type) {
    case "completed":
      return [{ type: "status", state: "completed", iteration: 0 }];
    case "cancelled":
      if (signal.reason instanceof ServerLeaves) return interruption(turn, signal.reason.waiting);
      return [
        { type: "warning", text: await redactor.redact(stopReason(signal)) },
        { type: "status", state: "cancelled", iteration: 0 },
      ];
    case "failed": {
      const { code, retryable } = end;
      const message = await redactor.redact(end.message);
      const hint = end.hint === undefined ? {} : { hint: await redactor.redact(end.hint) };
      return [
        { type: "error", code, message, ...hint, retryable },
        { type: "status", state: "error", iteration: 0 },
      ];
    }
  }
}

/** Why the turn was stopped, as given by the one who stopped it. */
function stopReason(signal: AbortSignal): string {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason.message : "Stopped.";
}

/** The abort reason of a turn if the server shuts down: as after a kill, a user can continue the turn. */
export class ServerLeaves extends DOMException {
  /** The questions open then, as text for users. */
  readonly waiting: readonly string[];

  constructor(waiting: readonly string[]) {
    super("The server is shutting down.", "AbortError");
    this.waiting = waiting;
  }
}
