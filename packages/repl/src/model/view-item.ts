import type { ConfirmationQuestion } from "@gennai/client/bridge/editor";
import type { TurnOutcome } from "@gennai/client/session/turn-state";
import type { PlanState, StepState } from "@gennai/protocol/model/governance/plan-state";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { AppliedFile, BlobRef, Proposal } from "@gennai/protocol/model/session/proposal";
import type { ReadonlySignal } from "@preact/signals";

/** Something the chat shows, as it is now. Values are never changed in place. */
export type ViewItem =
  | UserMessageItem
  | ThinkingItem
  | AssistantItem
  | ToolCallItem
  | ClientRequestItem
  | ConfirmationItem
  | ProposalItem
  | ChangeSetItem
  | PlanItem
  | NoticeItem
  | TurnEndItem;

/** One place in the chat. The place is permanent, its content changes. */
export interface ItemCell<Item extends ViewItem = ViewItem> {
  /** Unique within the session, the same after a replay. */
  readonly key: string;
  /** Where in the log it began. */
  readonly seq: bigint;
  readonly turnId: string;
  /** When it began. */
  readonly time: Date | undefined;
  /** The call whose sub-agent it is of; empty for the session's own. */
  readonly parentCallId: string;
  readonly item: ReadonlySignal<Item>;
}

export interface UserMessageItem {
  readonly kind: "user-message";
  readonly text: string;
  readonly scenario: string;
  readonly images: readonly BlobRef[];
}

export interface ThinkingItem {
  readonly kind: "thinking";
  readonly text: string;
  /** More may come. */
  readonly streaming: boolean;
}

export interface AssistantItem {
  readonly kind: "assistant";
  /** Markdown. */
  readonly text: string;
  readonly streaming: boolean;
}

/**
 * - `writing`: the model is still at its arguments
 * - `waiting`: the call is whole, and the gate has not let it go on; a question may be open
 * - `running`: it was let through
 * - `done`: it ran, and nothing is known to have failed
 * - `failed`: it ran and failed
 * - `refused`: it did not run
 * - `ended`: the turn ended before a result came
 */
export type ToolCallStatus = "writing" | "waiting" | "running" | "done" | "failed" | "refused" | "ended";

export interface ToolCallItem {
  readonly kind: "tool-call";
  readonly callId: string;
  readonly name: string;
  readonly status: ToolCallStatus;
  /** JSON, and not complete while `status` is `writing`. */
  readonly argumentsJson: string;
  /** The gate's words; undefined until it decided. */
  readonly decision: GateWord | undefined;
  /** The end of what it has written so far. */
  readonly liveOutput: string;
  /** True when `liveOutput` is not all of it. */
  readonly liveOutputCut: boolean;
  readonly result: ToolResultView | undefined;
  /** What it really changed in files, as the server found it. */
  readonly changes: readonly AppliedFile[];
  readonly startedAt: Date | undefined;
  readonly endedAt: Date | undefined;
}

export interface GateWord {
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk | undefined;
  readonly rule: string;
  readonly reason: string;
}

export interface ToolResultView {
  readonly output: string;
  /** Empty when nothing failed. */
  readonly error: string;
  /** True when `output` is not all. */
  readonly truncated: boolean;
  /** All of the output, when `output` holds its beginning. */
  readonly outputBlob: BlobRef | undefined;
  /** What the model was shown behind the output. */
  readonly images: readonly BlobRef[];
  /** undefined: the server says nothing about it. */
  readonly verification: "verified" | "unverified" | "failed" | undefined;
  /** undefined: no command ran, or nobody could tell how it ended. Never to be shown as a success. */
  readonly exitCode: number | undefined;
  /** E.g. `permission_denied`; empty where nothing failed. */
  readonly failureClass: string;
}

export type RequestState = "open" | "answered" | "timeout" | "cancelled";

/** The server asked an editor for something. */
export interface ClientRequestItem {
  readonly kind: "client-request";
  readonly requestId: string;
  /** What is being done for it. */
  readonly text: string;
  readonly state: RequestState;
  /** Who answered; empty when nobody did. */
  readonly answeredBy: string;
}

export interface ConfirmationItem {
  readonly kind: "confirmation";
  readonly requestId: string;
  readonly question: ConfirmationQuestion;
  /** False when the digest is not that of the action: the question cannot be answered with yes. */
  readonly genuine: boolean;
  readonly state: RequestState;
  readonly answeredBy: string;
  /** The result of the answer; undefined if there is none yet, or the server does not say. */
  readonly reply: ConfirmationReplyView | undefined;
}

export interface ConfirmationReplyView {
  readonly answer: "yes" | "no" | "nobody";
  /** How long a yes holds. */
  readonly scope: ConfirmationScope | undefined;
  /** Whose answer it is, on a server with many users; empty otherwise. */
  readonly user: string;
}

export interface ProposalItem {
  readonly kind: "proposal";
  readonly proposal: Proposal;
  /** undefined: nobody has decided yet. */
  readonly review: ProposalReviewView | undefined;
  /** The change set that came of it. */
  readonly changeSetId: string | undefined;
  /** That change set was taken back. */
  readonly undone: boolean;
}

export interface ProposalReviewView {
  readonly hunks: readonly {
    readonly changeId: string;
    readonly hunkId: string;
    readonly decision: "keep" | "undo" | "edited";
  }[];
  readonly note: string;
}

export interface ChangeSetItem {
  readonly kind: "change-set";
  readonly changeSetId: string;
  readonly files: readonly AppliedFile[];
  readonly proposalId: string | undefined;
  /** The branch it was last written on; empty: none, or the server does not say. */
  readonly branch: string;
  readonly undone: boolean;
}

/** A plan of the session, as its events told it; `SessionPlans.get` has the whole. */
export interface PlanItem {
  readonly kind: "plan";
  readonly planId: string;
  readonly title: string;
  readonly state: PlanState | "unknown";
  readonly digest: string;
  /** What happened last, in one sentence. */
  readonly text: string;
  readonly steps: readonly { readonly stepId: string; readonly state: StepState; readonly failureClass: string }[];
}

export interface NoticeItem {
  readonly kind: "notice";
  readonly level: "info" | "warning" | "error";
  readonly topic:
    | "turn"
    | "session"
    | "settings"
    | "intent"
    | "rules"
    | "emergency"
    | "violation"
    | "context"
    | "checkpoint";
  readonly text: string;
  /** Stable, for errors, and for warnings of what can be mended here; empty otherwise. */
  readonly code: string;
  /** What to do next; may be empty. */
  readonly hint: string;
  readonly retryable: boolean;
}

export interface TurnEndItem {
  readonly kind: "turn-end";
  readonly turnId: string;
  readonly outcome: TurnOutcome;
  /** Milliseconds. */
  readonly duration: number | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** True if it changed files, also by commands, and can be taken back as a whole. */
  readonly changedFiles: boolean;
}
