export type LogLevel = "debug" | "info" | "warn" | "error";

/** What a line says besides its text, for machines: numbers and names, no content. */
export type LogFields = Readonly<Record<string, string | number | boolean>>;

/** Where the server tells what its user or operator should know. Texts are redacted already. */
export interface ServerLog {
  /** Whether `debug` lines are shown; undefined: no. */
  readonly debugs?: boolean;
  /** For anyone who looks for a fault. */
  debug(text: string, fields?: LogFields): void;
  info(text: string, fields?: LogFields): void;
  warn(text: string, fields?: LogFields): void;
  /** An error nobody expected, with its cause for anyone who mends it. */
  error(text: string, cause?: unknown, fields?: LogFields): void;
}
