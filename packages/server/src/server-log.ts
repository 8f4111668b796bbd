/** Where the server tells what its user or operator should know. Texts are redacted already. */
export interface ServerLog {
  info(text: string): void;
  warn(text: string): void;
  /** An error nobody expected, with its cause for whoever mends it. */
  error(text: string, cause?: unknown): void;
}
