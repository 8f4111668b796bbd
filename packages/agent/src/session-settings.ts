export type Backend =
  | "offline"
  | "scripted"
  | "openai-compatible"
  | "ollama"
  | "openai"
  | "anthropic"
  | "gemini"
  | "editor";

/** `branch`: the agent writes on a feature branch. `proposal`: nothing is written, changes are proposed. */
export type EditingMode = "branch" | "proposal";

/** How much the agent writes. It changes the prompt alone: no rule may look at it. */
export type Verbosity = "terse" | "normal" | "detailed";

/** What a session runs with, every default filled in. */
export interface SessionSettings {
  readonly backend: Backend;
  /** Model name; for `scripted`, the path of the script. */
  readonly model: string;
  readonly baseUrl: string;
  /** Output tokens an answer may take; 0: the provider's default. */
  readonly maxTokens: number;
  /** Model calls a turn may take. */
  readonly maxIterations: number;
  readonly editingMode: EditingMode;
  readonly verbosity: Verbosity;
  /** True when somebody can answer requests. */
  readonly interactive: boolean;
  /** Absent in logs of before there were limits. */
  readonly limits?: SessionLimits;
}

/** What a session may use. 0: no such limit. */
export interface SessionLimits {
  /** Tokens the model can take, in place of what is known of it. */
  readonly maxContextTokens: number;
  /** Tokens in and out, over all of the session's turns. */
  readonly maxSessionTokens: number;
  /** The same, over one turn. */
  readonly maxTurnTokens: number;
  /** Over all of the session's turns, in the currency of the user's prices. */
  readonly maxCost: number;
}

export const noLimits: SessionLimits = { maxContextTokens: 0, maxSessionTokens: 0, maxTurnTokens: 0, maxCost: 0 };
