import type { LogLevel, ServerLog } from "@gennai/machine/server-log";
import { isShown, jsonLog } from "./json-log.ts";

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
