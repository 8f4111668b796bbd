import { type EmergencyState, noEmergency } from "@gennai/protocol/model/governance/emergency";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { QueuedMessage } from "@gennai/protocol/model/session/queued-message";
import type { Todo } from "@gennai/protocol/model/session/todo";
import type { IntentSummary } from "../governance/intents.ts";
import type { CutOffTurn } from "../session/agent-session.ts";
import type { TurnPhase } from "../session/turn-state.ts";
import { emptyMeter, type UsageMeter } from "../session/usage-meter.ts";
import type { Violation } from "./items/view-item.ts";

/** Facts about a session as a whole. */
export interface SessionFacts {
  readonly workingDir: string;
  /** Title given by a user; otherwise empty. */
  readonly title: string;
  readonly forkedFrom: string;
  readonly turn: RunningTurn | undefined;
  /** The last turn, if it was cut off and can be continued. */
  readonly cutOffTurn: CutOffTurn | undefined;
  /** The newest final answer. */
  readonly answer: { readonly turnId: string; readonly text: string } | undefined;
  readonly usage: UsageMeter;
  readonly todos: readonly Todo[];
  /** undefined until one was selected. */
  readonly intent: IntentSummary | undefined;
  /** undefined until rules were read or changed in this session. */
  readonly rules: RulesFact | undefined;
  readonly emergency: EmergencyState;
  /** Messages for a running turn that the model has not got yet, oldest first. */
  readonly queuedMessages: readonly QueuedMessage[];
  /** What people are asked now, without secrets, by request id; oldest first. */
  readonly questions: ReadonlyMap<string, string>;
  /** Proposals that nobody has decided about, newest last. */
  readonly openProposals: ReadonlyMap<string, Proposal>;
  /** The newest call that a rule stopped or asked about. */
  readonly violation: Violation | undefined;
}

export interface RunningTurn {
  readonly turnId: string;
  /** `waiting-for-person` while a question is open, whatever goes on beside it. */
  readonly phase: TurnPhase | "waiting-for-person";
  /** Model calls so far. */
  readonly iteration: number;
  /** The tool that runs; empty if none does. */
  readonly toolName: string;
  readonly since: Date | undefined;
  /** When a wait ends by itself. */
  readonly until?: Date | undefined;
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
  cutOffTurn: undefined,
  answer: undefined,
  usage: emptyMeter,
  todos: [],
  intent: undefined,
  rules: undefined,
  emergency: noEmergency,
  queuedMessages: [],
  questions: new Map(),
  openProposals: new Map(),
  violation: undefined,
};
