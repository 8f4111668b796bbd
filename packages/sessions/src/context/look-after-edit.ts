/** A call that has changed files and whose result is not yet reported. */
export interface EditingCall {
  readonly callId: string;
  /** Relative to the workspace; at least one. */
  readonly paths: readonly string[];
  /** Made by a sub-agent: the session's own model does not read the result. */
  readonly bySubAgent: boolean;
  readonly signal: AbortSignal;
  /** Makes the changes durable before a long check, because the server may end in the meantime. */
  record(): Promise<void>;
}

/** Called after each call that changed files, for new problems in them. Not set before the turn begins. */
export interface LookAfterEdit {
  /** Text for the call's result; undefined: none. Rejects only if the change cannot be recorded. */
  look?: (call: EditingCall) => Promise<string | undefined>;
}

/** More changed files than this are checked after the round. */
export const mostFiles = 50;
