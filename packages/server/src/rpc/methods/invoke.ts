import { randomUUID } from "node:crypto";
import { ServiceError } from "@gennai/machine/service-error";
import type { InvokeRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { Session } from "@gennai/sessions/session/session";
import { startTurn } from "@gennai/sessions/turn/prepare-turn";
import { clientFromWire } from "../wire/client-from-wire.ts";
import { turnInputFromWire } from "../wire/turn-input-from-wire.ts";
import { streamEvents } from "./event-stream.ts";

/** Starts a turn and streams it to its end; the client counts as attached meanwhile. */
export async function* invoke(
  session: Session,
  request: InvokeRequest,
  signal: AbortSignal,
): AsyncGenerator<InvokeEvent> {
  if (session.workspace.client !== undefined) {
    throw new ServiceError(
      "failed_precondition",
      "A client holds this workspace, and is asked before the turn begins.",
      { reason: "not_held_here", hint: "Subscribe, then use StartTurn." },
    );
  }
  const client = clientFromWire(request.client, session);
  // Attached before the turn starts, so that its first question finds a client.
  using attached = session.clients.attach(client);
  signal.addEventListener("abort", () => attached[Symbol.dispose](), { once: true });
  const clientTurnId = request.clientTurnId === "" ? randomUUID() : request.clientTurnId;
  const turn = await startTurn(session, turnInputFromWire(request, clientTurnId));
  yield* streamEvents(session, {
    afterSeq: turn.afterSeq,
    client,
    untilTurnId: turn.turnId,
    greet: false,
    batches: false,
    signal,
  });
}
