import { Code, ConnectError } from "@connectrpc/connect";
import type { ErrorCode } from "@gennai/protocol/errors/error-code";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

const code: ErrorCode = "server_draining";

/** The error of streams when the server stops: clients subscribe again, at another server or later at this one. */
export function shutdownError(): ConnectError {
  const message = "The server is shutting down.";
  const hint = "Subscribe again: another server, or this one when it is back, goes on from there.";
  const value = { code, message, hint, retryable: true };
  return new ConnectError(`${message} ${hint}`, Code.Unavailable, undefined, [{ desc: ErrorInfoSchema, value }]);
}
