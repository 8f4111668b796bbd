import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

/** Something that went wrong, for people and for a bug report. */
export interface Problem {
  readonly message: string;
  /** What to do; may be empty. */
  readonly hint: string;
  /** Stable, e.g. `illegal_state`. */
  readonly code: string;
  /** What was tried, e.g. `Execute`. */
  readonly action: string;
  /** RFC 3339. */
  readonly time: string;
}

export function problemOf(error: unknown, action: string, now: () => number = Date.now): Problem {
  const time = new Date(now()).toISOString();
  if (error instanceof ConnectError) {
    const info = error.findDetails(ErrorInfoSchema)[0];
    const code = info?.code || (Code[error.code] ?? "unknown");
    return { message: error.rawMessage || "The server refused.", hint: info?.hint ?? "", code, action, time };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, hint: "", code: error instanceof Error ? error.name : "unknown", action, time };
}

/** All that is known of a problem, as text to hand on. */
export function problemDetails({ message, hint, code, action, time }: Problem): string {
  return [
    `action: ${action}`,
    `code: ${code}`,
    `message: ${message}`,
    ...(hint === "" ? [] : [`hint: ${hint}`]),
    `time: ${time}`,
  ].join("\n");
}
