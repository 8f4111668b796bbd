import type { LogFields, LogLevel, ServerLog } from "@gennai/machine/server-log";
import { errorCode } from "./signals/error-code.ts";

/** From the least to the most important. */
export const logLevels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/**
 * The server's log, written from one level on: words for people, or a JSON object a line for machines.
 *
 * @param write takes a line without its end
 */
export function writtenLog(
  write: (line: string) => void,
  options: { readonly format: "text" | "json"; readonly level: LogLevel },
): ServerLog {
  return options.format === "json" ? jsonLog(write, options) : textLog(write, options.level);
}

function textLog(write: (line: string) => void, least: LogLevel): ServerLog {
  const line = (level: LogLevel, text: string): void => {
    if (isShown(level, least)) write(text);
  };
  return {
    debugs: isShown("debug", least),
    debug: (text) => line("debug", `debug: ${text}`),
    info: (text) => line("info", text),
    warn: (text) => line("warn", `warning: ${text}`),
    error(text, cause) {
      line("error", `error: ${text}`);
      if (cause instanceof Error) line("error", cause.stack ?? cause.message);
    },
  };
}

const severities: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Whether a line of this level is shown if the minimum level is `least`. */
function isShown(level: LogLevel, least: LogLevel): boolean {
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
