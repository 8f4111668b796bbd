import { Code, ConnectError } from "@connectrpc/connect";

/**
 * What a failed call means for the caller:
 * - `passing`: the way to the server broke; the same call may work in a moment
 * - `doubtful`: the server or the way failed for no stated reason; worth a few tries
 * - `final`: the server understood and refused; trying again changes nothing
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

/** Tries of a call that fails for no stated reason. */
export const doubtfulAttempts = 5;
