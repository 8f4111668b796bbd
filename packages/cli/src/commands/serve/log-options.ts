import type { LogLevel, ServerLog } from "@gennai/machine/server-log";
import { isShown, jsonLog } from "@gennai/server/telemetry/json-log";
import { usageError } from "../../errors/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

export interface LogFlags {
  /** `text` or `json`. */
  readonly logFormat?: string;
  readonly logLevel?: string;
}

const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];

/** The server's log, on standard error: words for people, or a JSON object a line for machines. */
export function logOption(flags: LogFlags, console: Console): ServerLog & { readonly format: "text" | "json" } {
  const level = levels.find((each) => each === (flags.logLevel ?? "info"));
  if (level === undefined) {
    throw usageError(
      `--log-level takes ${levels.join(", ")}, not ${JSON.stringify(flags.logLevel)}.`,
      "For example: --log-level warn",
    );
  }
  switch (flags.logFormat ?? "text") {
    case "text":
      return { format: "text", ...textLog(level, console) };
    case "json":
      return { format: "json", ...jsonLog((line) => void console.errors.write(line), { level }) };
    default:
      throw usageError(
        `--log-format takes text or json, not ${JSON.stringify(flags.logFormat)}.`,
        "For example: --log-format json",
      );
  }
}

function textLog(least: LogLevel, console: Console): ServerLog {
  const write = (level: LogLevel, text: string): void => {
    if (isShown(level, least)) console.errors.write(`${terminalSafe(text)}\n`);
  };
  return {
    debugs: isShown("debug", least),
    debug: (text) => write("debug", `debug: ${text}`),
    info: (text) => write("info", text),
    warn: (text) => write("warn", `warning: ${text}`),
    error(text, cause) {
      write("error", `error: ${text}`);
      if (cause instanceof Error) write("error", cause.stack ?? cause.message);
    },
  };
}
