import { durationMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/**
 * The meaning of a failed call:
 * - `passing`: the connection broke; the same call may soon work
 * - `doubtful`: it failed for no stated reason; worth a few retries
 * - `final`: the server understood and refused; retrying changes nothing
 */
export type CallFailure = "passing" | "doubtful" | "final";

export function callFailure(error: unknown): CallFailure {
  if (!(error instanceof ConnectError)) return error instanceof TypeError ? "passing" : "doubtful";
  switch (error.code) {
    case Code.Unavailable:
    case Code.Aborted:
    case Code.DeadlineExceeded:
    case Code.ResourceExhausted:
    case Code.Canceled:
      return "passing";
    case Code.Unknown:
    case Code.Internal:
      // fetch says TypeError when there is no connection; anything else may be a fault of the server that stays.
      return error.cause instanceof TypeError ? "passing" : "doubtful";
    default:
      return "final";
  }
}

/** How long the server asks to wait before the next try; 0 when it does not say. Milliseconds. */
export function askedPause(error: unknown): number {
  if (!(error instanceof ConnectError)) return 0;
  const retryAfter = error.findDetails(ErrorInfoSchema)[0]?.retryAfter;
  return retryAfter === undefined ? 0 : Math.max(0, durationMs(retryAfter));
}

/** The server does not, or no longer, accept the token. */
export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unauthenticated;
}

/** Tries of a call that fails for no stated reason. */
export const doubtfulAttempts = 5;
