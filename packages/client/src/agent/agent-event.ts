import type { Question } from "@gennai/protocol/model/governance/question";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { TurnOutcome } from "../session/turn-state.ts";
import type { UsageMeter } from "../session/usage-meter.ts";

/** What happened in a session. */
export type AgentEvent = AgentEventPlace &
  (
    | TextEvent
    | CallEvent
    | OutputEvent
    | ResultEvent
    | QuestionEvent
    | AnsweredEvent
    | ProposalEvent
    | FilesEvent
    | NoticeEvent
    | EndEvent
  );

/** Where an event stands. */
export interface AgentEventPlace {
  /** Its number in the session's log; `events({ after })` goes on behind it. */
  readonly seq: number;
  /** Empty for what is of no turn. */
  readonly turnId: string;
  /** Id of the call whose sub-agent it is of; empty for the session's own. */
  readonly parentCallId: string;
}

/** A piece of what the model says, or thinks. */
export interface TextEvent {
  readonly type: "text" | "thinking";
  readonly text: string;
}

/** The model calls a tool. Nothing has run yet. */
export interface CallEvent {
  readonly type: "call";
  readonly callId: string;
  /** E.g. `Bash`. */
  readonly name: string;
  /** As the tool takes them; text where it is no JSON. */
  readonly args: unknown;
}

/** A piece of what a call prints while it runs. */
export interface OutputEvent {
  readonly type: "output";
  readonly callId: string;
  readonly text: string;
}

/** What a call came to. */
export interface ResultEvent {
  readonly type: "result";
  readonly callId: string;
  readonly name: string;
  /** What the model was told; shortened where `truncated`. */
  readonly output: string;
  readonly truncated: boolean;
  /** Empty if nothing failed. */
  readonly error: string;
  /** E.g. `permission_denied`; empty if nothing failed. */
  readonly code: string;
  /** undefined: no command ran, or its end is not known. */
  readonly exitCode: number | undefined;
}

/** A person is asked; `confirm` answers, or another client. */
export interface QuestionEvent {
  readonly type: "question";
  readonly requestId: string;
  readonly question: Question;
}

/** It is answered, or over. */
export interface AnsweredEvent {
  readonly type: "answered";
  readonly requestId: string;
}

/** Changes that nobody has decided yet; nothing of them is written. */
export interface ProposalEvent {
  readonly type: "proposal";
  readonly proposal: Proposal;
}

/** Files were changed: by a call, by a review, or by taking back what was changed. */
export interface FilesEvent {
  readonly type: "files";
  /** Paths relative to the workspace. */
  readonly changed: readonly string[];
  /** For `undo`. */
  readonly changeSetId: string;
  readonly undone: boolean;
}

/** A line for people. */
export interface NoticeEvent {
  readonly type: "notice";
  readonly level: "info" | "warning" | "error";
  readonly text: string;
  /** Stable, for errors; else empty. */
  readonly code: string;
  /** What to do next; may be empty. */
  readonly hint: string;
}

/** A turn has ended: its last event. */
export interface EndEvent {
  readonly type: "end";
  readonly outcome: TurnOutcome;
  /** The model's final text. */
  readonly answer: string;
  /** Paths of all files that the turn changed. */
  readonly changed: readonly string[];
  /** Tools that were refused, and not let through later. */
  readonly refused: readonly string[];
  readonly usage: UsageMeter;
}
