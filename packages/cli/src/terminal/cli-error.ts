import { Code, ConnectError } from "@connectrpc/connect";
import { ExpectedError } from "@gennai/machine/expected-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { reachProblem } from "./reach-problem.ts";

/** An expected failure of a command: what went wrong, and what to do next. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** Next steps, one line each, ready to be typed or followed. */
  readonly next: readonly string[];

  constructor(
    message: string,
    options: { readonly exitCode?: ExitCode; readonly next: readonly string[]; readonly cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = "CliError";
    this.exitCode = options.exitCode ?? exitCode.failed;
    this.next = options.next;
  }
}

/** The error for a wrong command line; nothing was done. */
export function usageError(message: string, ...next: readonly string[]): CliError {
  return new CliError(message, { exitCode: exitCode.usage, next });
}

/** Any error as one that can be shown. */
export function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ConnectError) return fromConnectError(error);
  const message = errorMessage(error);
  if (error instanceof ExpectedError) {
    const { isWrongInput, hint } = error;
    return new CliError(message, {
      exitCode: isWrongInput ? exitCode.usage : exitCode.failed,
      next: hint === undefined ? [] : [hint],
      cause: error,
    });
  }
  return new CliError(message, {
    next: ["Set GENNAI_DEBUG=1 and run it again to see where it happened."],
    cause: error,
  });
}

/** The server speaks to all kinds of clients, so its message does not name options of this program. */
const modelOptions = "A model is named by --backend and --model; a server of your own also by --base-url.";

function fromConnectError(error: ConnectError): CliError {
  const { message, hint, code } = toldBy(error);
  const hints = [...(hint === "" ? [] : [hint]), ...(code === "model_not_configured" ? [modelOptions] : [])];
  if (code === "managed_policy") return new CliError(message, { exitCode: exitCode.usage, next: hints, cause: error });
  switch (error.code) {
    case Code.Unauthenticated:
      return new CliError("The server does not accept the token.", {
        exitCode: exitCode.usage,
        next: ["Set GENNAI_AUTH_TOKEN, or name the file with --auth-token-file, or use --server own."],
        cause: error,
      });
    case Code.NotFound:
    case Code.InvalidArgument:
      return new CliError(message, {
        exitCode: exitCode.usage,
        next: [...hints, "`gennai sessions` lists the sessions of a workspace, `gennai run --help` the options."],
        cause: error,
      });
    case Code.PermissionDenied:
      return new CliError(message, {
        exitCode: exitCode.refused,
        next: hint === "" ? ["The server's rules refuse this; change the rules or the request."] : hints,
        cause: error,
      });
    case Code.Unavailable:
    case Code.Unknown:
      return new CliError(`The server cannot be reached: ${reachProblem(error)}`, {
        next: ["Start one with `gennai serve`, or run with --server own."],
        cause: error,
      });
    default:
      return new CliError(message, {
        next: hints.length === 0 ? ["Correct what it names and run the command again."] : hints,
        cause: error,
      });
  }
}

/** The server knows best what to do next; its hint is a field of its own, and also the end of its message. */
function toldBy(error: ConnectError): { readonly message: string; readonly hint: string; readonly code: string } {
  const info = error.findDetails(ErrorInfoSchema)[0];
  if (info === undefined || info.message === "") return { message: error.rawMessage, hint: "", code: "" };
  return { message: info.message, hint: info.hint, code: info.code };
}
