import { ServiceError } from "@gennai/machine/service-error";
import type { ClientEvent } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { requestId } from "@gennai/protocol/model/checked-field";
import { checkedAppliedFile } from "@gennai/protocol/model/session/proposal";
import { answerRequest } from "@gennai/sessions/manager/answer-request";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { recordApplied, recordReview } from "@gennai/sessions/proposal/proposal-review";
import type { Session } from "@gennai/sessions/session/session";
import { answerFromWire, type IncomingAnswer, isStillRunning } from "../wire/answer-from-wire.ts";
import { reviewFromWire } from "../wire/events/review-wire.ts";

/** Takes what a client says; answers when it is durable. */
export async function submitClientEvent(manager: SessionManager, message: ClientEvent) {
  const session = await manager.get(message.sessionId);
  const { event } = message;
  switch (event.case) {
    case undefined:
      throw new ServiceError("invalid_argument", "The event is empty, or of a kind this server does not know.");
    case "commandOutput": {
      const id = requestId(event.value.requestId);
      session.requests.progress(id, event.value.text);
      return ok(id);
    }
    case "proposalReview":
      await recordReview(session, reviewFromWire(event.value));
      return ok("");
    case "proposalApplied": {
      const { proposalId, files, error } = event.value;
      if (error !== "") {
        session.writer.emit({ type: "warning", text: `The proposal was not applied: ${error}` }, { turnId: "" });
        await session.writer.flush();
      } else {
        await recordApplied(session, { proposalId, files: files.map(checkedAppliedFile) });
      }
      return ok("");
    }
    default: {
      const incoming = answerFromWire(event);
      if (incoming === undefined) throw new ServiceError("invalid_argument", `An event ${event.case} answers nothing.`);
      if (isStillRunning(event)) {
        if (event.case === "commandDispatchResponse") session.requests.progress(incoming.requestId, event.value.output);
        return ok(incoming.requestId);
      }
      await answer(manager, session, incoming, message);
      return ok(incoming.requestId);
    }
  }
}

async function answer(
  manager: SessionManager,
  session: Session,
  incoming: IncomingAnswer,
  message: ClientEvent,
): Promise<void> {
  const { requestId: id } = incoming;
  try {
    const { clientId, ownerEpoch } = message;
    await answerRequest(session, id, incoming.answer, { clientId, epoch: Number(ownerEpoch) });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "not_found") throw error;
    const owner = await manager.ownerOfRequest(id);
    if (owner === undefined || owner === session || owner.user !== session.user) throw error;
    throw new ServiceError("permission_denied", "This request belongs to another session.");
  }
}

function ok(id: string) {
  return { requestId: id, status: "OK", error: "" };
}
