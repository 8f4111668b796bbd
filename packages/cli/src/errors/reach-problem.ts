import type { ConnectError } from "@connectrpc/connect";

/** Why a server was not reached, or what it said: `fetch` says only that it failed, and keeps the reason as its cause. */
export function reachProblem(error: ConnectError): string {
  let cause: unknown = error.cause;
  let reason = "";
  while (cause instanceof Error) {
    // Several addresses were tried: each has its own.
    const [first] = cause instanceof AggregateError ? (cause.errors as readonly unknown[]) : [];
    reason = cause.message === "" ? reason : cause.message;
    cause = first ?? cause.cause;
  }
  return reason === "" || reason === error.rawMessage ? error.rawMessage : `${error.rawMessage}: ${reason}`;
}
