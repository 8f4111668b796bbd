import type { LogFields, LogLevel, ServerLog } from "@gennai/machine/server-log";
import { errorCode } from "./signals/error-code.ts";

const severities: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Whether a line of this level is shown if the minimum level is `least`. */
export function isShown(level: LogLevel, least: LogLevel): boolean {
  return severities[level] >= severities[least];
}

/**
 * A log of one JSON object per line: `time` (ISO 8601), `level`, `message`, then `request_id`, `trace_id`, `span_id` and other
 * fields if present, and for an unexpected error `error` with `type`, `message` and `stack`.
 */
export function jsonLog(write: (line: string) => void, options: { readonly level: LogLevel }): ServerLog {
  const line = (level: LogLevel, message: string, fields: LogFields | undefined, error?: unknown): void => {
    if (!isShown(level, options.level)) return;
    const shown = error === undefined ? {} : { error: shownError(error) };
    write(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields, ...shown }));
  };
  return {
    debugs: isShown("debug", options.level),
    debug: (text, fields) => line("debug", text, fields),
    info: (text, fields) => line("info", text, fields),
    warn: (text, fields) => line("warn", text, fields),
    error: (text, cause, fields) => line("error", text, fields, cause),
  };
}

function shownError(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof Error)) return { type: "unknown", message: String(error) };
  const { message, stack = "" } = error;
  return { type: errorCode(error), message, stack };
}
