import type { EmergencyControl, EmergencyState } from "@gennai/governance/emergency/emergency-state";
import type { Intent } from "@gennai/governance/intents/intent";
import type { PlanChange } from "@gennai/governance/plan/plan-change";
import type { Risk } from "@gennai/governance/risk";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import type { ObservedFile, Verification } from "@gennai/governance/tool";
import type { FailureClass } from "@gennai/governance/tool-error";
import type { ClientRequest, RequestResolution } from "./client-request.ts";
import type { MessageCall } from "./model.ts";
import type { FileChangeRecord, Proposal, ProposalReview } from "./proposal.ts";
import type { SessionSettings } from "./session-settings.ts";
import type { Todo } from "./todo.ts";

/** Content kept outside the log. */
export interface BlobRef {
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
  readonly mediaType: string;
}

export type TurnState =
  | "started"
  | "thinking"
  | "run-tool"
  | "waiting-tool-result"
  | "waiting-for-client"
  | "completed"
  | "error"
  | "cancelled"
  | "interrupted";

/** States after which a turn does nothing any more. */
export const endStates: ReadonlySet<TurnState> = new Set(["completed", "error", "cancelled", "interrupted"]);

/** One fact of a session. The log holds nothing else; conversation, todos and pending questions are folds over it. */
export type SessionEvent =
  | {
      readonly type: "session-started";
      readonly workingDir: string;
      readonly settings: SessionSettings;
      readonly forkedFrom?: string;
    }
  | { readonly type: "settings-changed"; readonly settings: SessionSettings }
  | { readonly type: "session-cleared" }
  | {
      readonly type: "user-message";
      readonly text: string;
      readonly scenario: string;
      readonly clientTurnId: string;
      readonly enableThinking: boolean;
      readonly images: readonly BlobRef[];
    }
  | {
      readonly type: "status";
      readonly state: TurnState;
      readonly iteration: number;
      readonly toolName?: string;
      readonly toolCallId?: string;
    }
  | { readonly type: "thinking-delta"; readonly text: string }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "tool-call-start"; readonly id: string; readonly name: string }
  | { readonly type: "tool-call-delta"; readonly id: string; readonly text: string }
  | ({ readonly type: "tool-call" } & MessageCall)
  | {
      readonly type: "gate-decision";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly verdict: "allow" | "ask" | "deny";
      readonly risk: Risk;
      readonly rule: string;
      readonly reason: string;
    }
  | { readonly type: "tool-output-delta"; readonly id: string; readonly text: string }
  | {
      readonly type: "tool-result";
      readonly id: string;
      readonly name: string;
      readonly output: string;
      /** Message of the failure; the model reads `output`. */
      readonly error?: string;
      readonly truncated: boolean;
      readonly outputBlob?: BlobRef;
      readonly verification: Verification["state"];
      readonly exitCode?: number;
      readonly failureClass?: FailureClass;
      /** Bases for the freshness check. */
      readonly observed: readonly ObservedFile[];
    }
  | {
      readonly type: "usage";
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly modelId: string;
      readonly maxContextTokens: number;
    }
  | {
      readonly type: "final";
      readonly text: string;
      readonly thinking: string;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly modelId: string;
      readonly maxContextTokens: number;
    }
  | { readonly type: "warning"; readonly text: string }
  | {
      readonly type: "error";
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      readonly retryable: boolean;
    }
  | { readonly type: "client-request"; readonly request: ClientRequest }
  | {
      readonly type: "client-request-resolved";
      readonly requestId: string;
      readonly resolution: RequestResolution;
      readonly clientId: string;
    }
  | { readonly type: "todos-changed"; readonly items: readonly Todo[] }
  | { readonly type: "proposed-changes"; readonly proposal: Proposal }
  | { readonly type: "proposal-review"; readonly review: ProposalReview }
  | {
      readonly type: "change-set-applied";
      readonly changeSetId: string;
      readonly files: readonly FileChangeRecord[];
      readonly proposalId?: string;
    }
  | {
      readonly type: "emergency-changed";
      readonly state: EmergencyState;
      readonly control: EmergencyControl;
      readonly enabled: boolean;
      readonly tool: string;
      readonly by: string;
      readonly reason: string;
    }
  | {
      readonly type: "rule-violation";
      readonly toolCallId: string;
      readonly tool: string;
      /** Redacted. */
      readonly input: string;
      readonly rule: string;
      readonly action: "blocked" | "asked" | "confirmed" | "refused";
    }
  /** `context` is the block that enters every later model call. */
  | { readonly type: "intent-selected"; readonly intent: Intent; readonly context: string }
  | { readonly type: "rules-changed"; readonly status: RulesStatus }
  /** A plan of the session, see `PlanRecord`. */
  | { readonly type: "plan-changed"; readonly planId: string; readonly change: PlanChange }
  | { readonly type: "change-set-undone"; readonly changeSetId: string; readonly files: readonly FileChangeRecord[] };

/** An event with its place in the log. */
export interface LoggedEvent {
  /** Gapless per session, from 1. */
  readonly seq: number;
  readonly turnId: string;
  readonly itemId: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly event: SessionEvent;
}
