import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** Why a call failed. */
export class AgentError extends Error {
  override readonly name = "AgentError";
  /** Stable, e.g. `not_found`; docs/reference/errors.md lists them. `unavailable`: the server cannot be reached. */
  readonly code: string;
  /** What to do next; may be empty. */
  readonly hint: string;

  constructor(message: string, { code, hint = "", cause }: { code: string; hint?: string; cause?: unknown }) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.hint = hint;
  }
}

/** What the server told, as an error of this package; anything else as it is. */
export function agentError(error: unknown): unknown {
  if (!(error instanceof ConnectError)) return error;
  const info = error.findDetails(ErrorInfoSchema)[0];
  const name = (Code[error.code] ?? "unknown").replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
  return new AgentError(info?.message || error.rawMessage, {
    code: info?.code || name,
    hint: info?.hint ?? "",
    cause: error,
  });
}
