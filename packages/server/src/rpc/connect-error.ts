import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { ModelError } from "@gennai/agent/model";
import { ToolFailure } from "@gennai/governance/tool-error";
import { ServiceError, type ServiceErrorCode } from "@gennai/machine/service-error";
import { WorkspaceError } from "@gennai/machine/workspace/paths/workspace-error";
import type { ErrorCode } from "@gennai/protocol/errors/error-code";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { InvalidField } from "@gennai/protocol/model/checked-field";
import { StoreError } from "@gennai/store/database/store-error";
import { type StoreTrouble, storeTrouble } from "@gennai/store/database/store-trouble";
import { AppendConflict } from "@gennai/store/log/session-log";

const codes: Record<ServiceErrorCode, Code> = {
  invalid_argument: Code.InvalidArgument,
  not_found: Code.NotFound,
  already_exists: Code.AlreadyExists,
  permission_denied: Code.PermissionDenied,
  unauthenticated: Code.Unauthenticated,
  failed_precondition: Code.FailedPrecondition,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
};

/** Any error as clients get it. Text of unexpected errors stays in the server; `report` gets them in full. */
export function toConnectError(error: unknown, report: (error: unknown) => void): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof ServiceError) {
    return withInfo(codes[error.code], error.message, {
      code: error.reason ?? error.code,
      hint: error.hint ?? "",
      retryable: error.code === "unavailable" || error.retryAfterMs !== undefined,
      retryAfterMs: error.retryAfterMs,
    });
  }
  if (error instanceof InvalidField) {
    return withInfo(Code.InvalidArgument, error.message, { code: "invalid_argument", hint: "", retryable: false });
  }
  if (error instanceof ToolFailure) {
    const code =
      error.code === "not_found"
        ? Code.NotFound
        : error.code.startsWith("bad_")
          ? Code.InvalidArgument
          : Code.FailedPrecondition;
    return withInfo(code, error.message, { code: error.code, hint: error.hint ?? "", retryable: error.retryable });
  }
  if (error instanceof ModelError) {
    return withInfo(Code.FailedPrecondition, error.message, {
      code: `model_${error.code}`,
      hint: error.hint ?? "",
      retryable: error.retryable,
    });
  }
  if (error instanceof WorkspaceError) {
    return withInfo(Code.InvalidArgument, error.message, { code: error.code, hint: "", retryable: false });
  }
  if (error instanceof AppendConflict) {
    return withInfo(Code.Aborted, "Another server took this session over.", {
      code: "session_taken_over",
      hint: "Subscribe again to go on.",
      retryable: true,
    });
  }
  if (error instanceof DOMException && error.name === "AbortError") {
    return withInfo(Code.Aborted, "This was stopped together with its turn.", {
      code: "aborted",
      hint: "Try again.",
      retryable: true,
    });
  }
  if (error instanceof StoreError && error.code === "rolled_back") {
    return withInfo(
      Code.FailedPrecondition,
      "The server's database is older than what was signed last, so nothing is recorded, and nothing is done.",
      {
        code: "ledger_rolled_back",
        hint: "Whoever runs the server puts the newer one back, or accepts the loss. gennai doctor says what is missing.",
        retryable: false,
      },
    );
  }
  if (error instanceof StoreError && (error.code === "session_deleted" || error.code === "unknown_session")) {
    return error.code === "session_deleted"
      ? withInfo(Code.NotFound, "This session was deleted.", {
          code: "session_deleted",
          hint: "Open another one, or start a new one.",
          retryable: false,
        })
      : withInfo(Code.NotFound, "There is no such session.", {
          code: "not_found",
          hint: "Start one, or list them.",
          retryable: false,
        });
  }
  report(error);
  const trouble = storeTrouble(error);
  if (trouble !== undefined) return withInfo(...troubles[trouble]);
  return withInfo(Code.Internal, "The server failed unexpectedly; its log says why.", {
    code: "internal",
    hint: "",
    retryable: false,
  });
}

/** Errors of the disk and the log, by name; all may be retried. */
const troubles: Readonly<Record<StoreTrouble, Parameters<typeof withInfo>>> = {
  disk_full: storageTrouble(
    "disk_full",
    "The server's disk is full",
    "The person who runs the server has to free some space; then try again.",
  ),
  disk_read_only: storageTrouble(
    "disk_read_only",
    "The server's disk cannot be written",
    "The person who runs the server has to make the state directory writable; then try again.",
  ),
  disk_failed: storageTrouble(
    "disk_failed",
    "The server's disk does not work",
    "The person who runs the server has to look at the disk; then try again.",
  ),
  too_many_files: storageTrouble(
    "too_many_files",
    "The server has as many files open as it may",
    "Try again in a moment; the person who runs the server can raise the limit (ulimit -n).",
  ),
  unavailable: [
    Code.Unavailable,
    "The server cannot write its log right now, so nothing is done.",
    { code: "unavailable", hint: "Try again in a moment.", retryable: true, retryAfterMs: 5_000 },
  ],
};

function storageTrouble(code: StoreTrouble, what: string, hint: string): Parameters<typeof withInfo> {
  const message = `${what}, so nothing can be recorded, and nothing is done.`;
  return [Code.ResourceExhausted, message, { code, hint, retryable: true, retryAfterMs: 10_000 }];
}

function withInfo(
  code: Code,
  message: string,
  info: {
    readonly code: string;
    readonly hint: string;
    readonly retryable: boolean;
    readonly retryAfterMs?: number | undefined;
  },
): ConnectError {
  const { retryAfterMs, ...rest } = info;
  const text = info.hint === "" ? message : `${message} ${info.hint}`;
  const value = {
    ...rest,
    message,
    ...(retryAfterMs === undefined ? {} : { retryAfter: durationFromMs(retryAfterMs) }),
  };
  // For anyone who reads headers and knows nothing of our details: whole seconds, as HTTP has them.
  const headers = retryAfterMs === undefined ? {} : { "retry-after": String(Math.ceil(retryAfterMs / 1000)) };
  return new ConnectError(text, code, headers, [{ desc: ErrorInfoSchema, value }]);
}

const code: ErrorCode = "server_draining";

/** The error of streams when the server stops: clients subscribe again, at another server or later at this one. */
export function shutdownError(): ConnectError {
  const message = "The server is shutting down.";
  const hint = "Subscribe again: another server, or this one when it is back, goes on from there.";
  const value = { code, message, hint, retryable: true };
  return new ConnectError(`${message} ${hint}`, Code.Unavailable, undefined, [{ desc: ErrorInfoSchema, value }]);
}
