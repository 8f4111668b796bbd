import { type EmergencyState, noEmergency } from "@gennai/client/governance/emergency";
import type { IntentSummary } from "@gennai/client/governance/intents";
import type { TurnPhase } from "@gennai/client/session/turn-state";

/** What holds for a session as a whole. */
export interface SessionFacts {
  readonly workingDir: string;
  /** As somebody renamed the session; empty before. */
  readonly title: string;
  readonly forkedFrom: string;
  readonly turn: RunningTurn | undefined;
  readonly usage: Usage;
  readonly todos: readonly Todo[];
  /** undefined until one was selected. */
  readonly intent: IntentSummary | undefined;
  /** undefined until rules were read or changed in this session. */
  readonly rules: RulesFact | undefined;
  readonly emergency: EmergencyState;
}

export interface RunningTurn {
  readonly turnId: string;
  readonly phase: TurnPhase;
  /** Model calls so far. */
  readonly iteration: number;
  /** The tool that runs; empty when none does. */
  readonly toolName: string;
  readonly since: Date | undefined;
}

/** Tokens; the sums are over the whole session. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What the newest model call held. */
  readonly contextTokens: number;
  /** 0: unknown. */
  readonly maxContextTokens: number;
  readonly modelId: string;
  /** undefined: the server knows no prices. */
  readonly cost: number | undefined;
  /** What `cost` is in; may be empty. */
  readonly currency: string;
  /** Some of it is a guess. */
  readonly estimated: boolean;
}

export type TodoStatus = "pending" | "in-progress" | "completed";
export type TodoPriority = "low" | "medium" | "high";

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: TodoStatus;
  readonly priority: TodoPriority;
  /** RFC 3339. */
  readonly created: string;
  readonly updated: string;
}

export interface RulesFact {
  readonly count: number;
  readonly text: string;
  readonly lastViolation: string;
  readonly problems: readonly string[];
}

export const emptyFacts: SessionFacts = {
  workingDir: "",
  title: "",
  forkedFrom: "",
  turn: undefined,
  usage: {
    inputTokens: 0,
    outputTokens: 0,
    contextTokens: 0,
    maxContextTokens: 0,
    modelId: "",
    cost: undefined,
    currency: "",
    estimated: false,
  },
  todos: [],
  intent: undefined,
  rules: undefined,
  emergency: noEmergency,
};
