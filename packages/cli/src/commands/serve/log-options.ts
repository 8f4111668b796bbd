import { logLevels, writtenLog } from "@gennai/server/telemetry/written-log";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

export interface LogFlags {
  /** `text` or `json`. */
  readonly logFormat?: string;
  readonly logLevel?: string;
}

/** The server's log, on standard error: text for people, or one JSON object a line for machines. Throws `CliError`. */
export function logOption(flags: LogFlags, { errors }: Console) {
  const { logFormat: format = "text" } = flags;
  const level = logLevels.find((each) => each === (flags.logLevel ?? "info"));
  if (level === undefined) {
    throw usageError(
      `--log-level takes ${logLevels.join(", ")}, not ${JSON.stringify(flags.logLevel)}.`,
      "For example: --log-level warn",
    );
  }
  if (format !== "text" && format !== "json") {
    throw usageError(
      `--log-format takes text or json, not ${JSON.stringify(format)}.`,
      "For example: --log-format json",
    );
  }
  const write = (line: string): void => {
    errors.write(`${format === "text" ? terminalSafe(line) : line}\n`);
  };
  return { format, ...writtenLog(write, { format, level }) };
}
