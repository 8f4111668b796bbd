import { ServiceError } from "@gennai/machine/service-error";
import { answersRequest, type ClientAnswer } from "../bridge/client-answer.ts";
import type { Session } from "../session/session.ts";

/** Removes the deadline of a question to a user. Throws `ServiceError`. */
export async function waitForAnswer({ requests, state, services }: Session, requestId: string): Promise<void> {
  if (services.confirmation.answerMs !== undefined) {
    throw new ServiceError("failed_precondition", "On this server, no question can wait longer.");
  }
  if (requests.get(requestId) === undefined && !state.resolvedRequests.has(requestId)) {
    throw new ServiceError("not_found", "This session has no such question.");
  }
  await requests.waitFor(requestId);
}

/**
 * Accepts a client's answer to a request of a session. Throws `ServiceError`: `not_found` if the session never made the
 * request, other reasons if it is over, for another client, or not answered by this kind.
 *
 * @param epoch of the session's owner when the request was made; 0: unknown
 */
export async function answerRequest(
  { requests, clients, state, services }: Session,
  requestId: string,
  answer: ClientAnswer,
  from: { readonly clientId: string; readonly epoch: number },
): Promise<void> {
  const request = requests.get(requestId);
  if (from.clientId === "" && (request !== undefined || state.resolvedRequests.has(requestId))) clients.answered();
  if (request === undefined) {
    const resolution = state.resolvedRequests.get(requestId);
    if (resolution === "answered") {
      throw new ServiceError("already_exists", "This request was answered already; the first answer counts.");
    }
    if (resolution !== undefined || state.openRequests.has(requestId)) {
      throw new ServiceError("failed_precondition", "This request is over; the answer came too late.");
    }
    throw new ServiceError("not_found", "This session has no such request.");
  }
  if (from.epoch !== 0 && from.epoch !== request.ownerEpoch) {
    throw new ServiceError("failed_precondition", "This request belongs to an earlier owner of the session.");
  }
  if (request.kind === "workspace" && request.clientId !== from.clientId) {
    throw new ServiceError("permission_denied", "This request is for another client, which holds the files.");
  }
  if (!answersRequest(request, answer)) {
    throw new ServiceError("invalid_argument", "The answer is not one to this request: another kind, or another path.");
  }
  // A client without a user does not answer for a user at another client.
  if (answer.kind === "confirmation" && answer.answer === "nobody" && requests.leaveToOthers(requestId, from.clientId))
    return;
  await requests.answer(requestId, answer, from.clientId, services.callers.current()?.user);
}
