import type { PlanState, StepState } from "@gennai/protocol/model/governance/plan";
import type { ConfirmationScope } from "@gennai/protocol/model/governance/question";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { AppliedFile, BlobRef, Proposal } from "@gennai/protocol/model/session/proposal";
import type { ReadonlySignal } from "@preact/signals-core";
import type { ConfirmationQuestion } from "../../connection/editor.ts";
import type { TurnOutcome } from "../../session/turn-state.ts";
import type { UsageMeter } from "../../session/usage-meter.ts";

/** What the chat shows, in its present state. Values are never changed in place. */
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
  /** Sequence number in the log at which it began. */
  readonly seq: bigint;
  readonly turnId: string;
  /** When it began. */
  readonly time: Date | undefined;
  /** The call whose sub-agent it belongs to; empty for the session's own. */
  readonly parentCallId: string;
  readonly item: ReadonlySignal<Item>;
}

export interface UserMessageItem {
  readonly kind: "user-message";
  readonly text: string;
  readonly scenario: string;
  readonly images: readonly BlobRef[];
}

/** A rule's word about a call. */
export interface Violation {
  readonly tool: string;
  /** What was tried, in a few words. */
  readonly words: string;
  readonly rule: string;
  readonly reason: string;
  /** `file:line`; empty for a built-in rule. */
  readonly place: string;
  /** `blocked`, `asked`, `confirmed` or `refused`. */
  readonly action: string;
}

export interface ThinkingItem {
  readonly kind: "thinking";
  readonly text: string;
  /** True if more may follow. */
  readonly streaming: boolean;
}

export interface AssistantItem {
  readonly kind: "assistant";
  /** Markdown. */
  readonly text: string;
  readonly streaming: boolean;
}

/**
 * - `writing`: the model is still writing the arguments
 * - `waiting`: the call is complete, and the gate has not let it run yet; a question may be open
 * - `running`: it was let through
 * - `done`: it ran, and nothing is known to have failed
 * - `failed`: it ran and failed, or could not begin
 * - `refused`: it was not let through, and did not run
 * - `ended`: the turn ended before a result came
 */
export type ToolCallStatus = "writing" | "waiting" | "running" | "done" | "failed" | "refused" | "ended";

export interface ToolCallItem {
  readonly kind: "tool-call";
  readonly callId: string;
  readonly name: string;
  readonly status: ToolCallStatus;
  /** JSON; incomplete while `status` is `writing`. */
  readonly argumentsJson: string;
  /** The gate's decision; undefined until there is one. */
  readonly decision: GateWord | undefined;
  /** The newest rule that stopped it or asked about it. */
  readonly violation: Violation | undefined;
  /** The end of what it has printed so far. */
  readonly liveOutput: string;
  /** True if `liveOutput` is not everything. */
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
  /** Empty if nothing failed. */
  readonly error: string;
  /** True if `output` is not everything. */
  readonly truncated: boolean;
  /** The whole output, if `output` has only its beginning. */
  readonly outputBlob: BlobRef | undefined;
  /** Images that the model was shown after the output. */
  readonly images: readonly BlobRef[];
  /** undefined: the server says nothing about it. */
  readonly verification: "verified" | "unverified" | "failed" | undefined;
  /** undefined: no command ran, or its end is unknown. Never to be shown as a success. */
  readonly exitCode: number | undefined;
  /** E.g. `permission_denied`; empty if nothing failed. */
  readonly failureClass: string;
}

export type RequestState = "open" | "answered" | "timeout" | "cancelled";

/** The server asked an editor for something. */
export interface ClientRequestItem {
  readonly kind: "client-request";
  readonly requestId: string;
  /** What the editor is asked to do. */
  readonly text: string;
  readonly state: RequestState;
  /** Client that answered; empty if none did. */
  readonly answeredBy: string;
}

export interface ConfirmationItem {
  readonly kind: "confirmation";
  readonly requestId: string;
  readonly question: ConfirmationQuestion;
  /** False if the digest is not that of the action: then the question cannot be answered with yes. */
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
  /** The user who answered, on a server with many users; else empty. */
  readonly user: string;
}

export interface ProposalItem {
  readonly kind: "proposal";
  readonly proposal: Proposal;
  /** undefined: nobody has decided yet. */
  readonly review: ProposalReviewView | undefined;
  /** The change set that was made of it. */
  readonly changeSetId: string | undefined;
  /** True if that change set was taken back. */
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

/** A plan of the session, as events reported it; `SessionPlans.get` has all of it. */
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
    | "branch"
    | "intent"
    | "rules"
    | "emergency"
    | "violation"
    | "context"
    | "checkpoint";
  readonly text: string;
  /** Stable code, for errors, and for warnings with a remedy in the app; else empty. */
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
  readonly usage: UsageMeter;
  /** Paths, each once. */
  readonly changedFiles: readonly string[];
  /** True if commands changed some of them: such changes are taken back with the whole turn only. */
  readonly commandsChangedFiles: boolean;
}
