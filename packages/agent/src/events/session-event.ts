import type { Intent } from "@gennai/governance/intents/intent";
import type { PlanChange } from "@gennai/governance/plan/plan-change";
import type { RulesStatus } from "@gennai/governance/rules/status/rules-status";
import type { RuleViolation } from "@gennai/governance/rules/status/violation";
import type { ObservedFile, Verification } from "@gennai/governance/tool";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/editor/client-workspace";
import type { EmergencyControl, EmergencyState } from "@gennai/protocol/model/governance/emergency";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import type { BlobRef, Proposal } from "@gennai/protocol/model/session/proposal";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { Todo } from "@gennai/protocol/model/session/todo";
import type { MessageCall } from "../model.ts";
import type { InstructionsTold } from "../prompt/instructions.ts";
import type { Cost, Usage, UsageSum } from "../use/usage.ts";
import type { ClientRequest, RequestResolution, ResolvedReply } from "./client-request.ts";
import type { FileChangeRecord, ProposalReview } from "./proposal.ts";
import type { Warning } from "./warning.ts";

export type TurnState =
  | "started"
  | "thinking"
  | "run-tool"
  | "waiting-tool-result"
  | "waiting-for-client"
  | "waiting-for-tree"
  | "waiting-for-provider"
  | "completed"
  | "error"
  | "cancelled"
  | "interrupted";

/** What a session's log says of a command in the background. */
export interface BackgroundRunRecord {
  /** Unique in the session, e.g. `b1`. */
  readonly id: string;
  readonly command: string;
  /** How it ended, e.g. `exit code 1`; absent while it runs. */
  readonly end?: string;
  /** Of one that ended by itself. */
  readonly exitCode?: number;
  /** Ports of it that lead to this machine's loopback, and by which port there. */
  readonly ports: readonly { readonly port: number; readonly local: number }[];
}

/** States after which a turn does nothing any more. */
export const endStates: ReadonlySet<TurnState> = new Set(["completed", "error", "cancelled", "interrupted"]);

/**
 * One fact of a session. The log holds nothing else; conversation, todos and pending questions are folds over it. One with
 * `parentToolCallId` is a sub-agent's, which the call of that id runs: it is not part of the session's own conversation.
 */
export type SessionEvent = SessionFact & { readonly parentToolCallId?: string };

type SessionFact =
  | {
      readonly type: "session-started";
      readonly workingDir: string;
      readonly settings: SessionSettings;
      readonly forkedFrom?: string;
      /** Set when a client holds the files. */
      readonly clientWorkspace?: ClientWorkspaceFacts;
      /** What that session had changed until then, and nobody took back: not this session's to undo. */
      readonly inheritedFiles?: readonly FileChangeRecord[];
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
      /** Of one that was said while its turn ran; such a message begins no turn, and `clientTurnId` is empty. */
      readonly messageId?: string;
    }
  /** In place of a user's message: this turn goes on with one that was cut off. */
  | {
      readonly type: "turn-continued";
      readonly continuedTurnId: string;
      readonly scenario: string;
      readonly clientTurnId: string;
      readonly enableThinking: boolean;
    }
  /** What a user said to the running turn: it waits for the model's next call. */
  | {
      readonly type: "message-queued";
      readonly messageId: string;
      readonly text: string;
      readonly images: readonly BlobRef[];
    }
  /** Somebody took it back before the model was told. */
  | { readonly type: "message-withdrawn"; readonly messageId: string }
  | {
      readonly type: "status";
      readonly state: TurnState;
      readonly iteration: number;
      readonly toolName?: string;
      readonly toolCallId?: string;
      /** When it goes on by itself, milliseconds since the epoch. */
      readonly until?: number;
      /** Of a beginning in a fork: the turn is its source's, and what happened to its calls stands there. */
      readonly copied?: true;
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
      /** All of it, where `output` is only its beginning and end: it was too long for the model. */
      readonly wholeOutput?: BlobRef;
      /** What the model was shown behind the output. */
      readonly images?: readonly BlobRef[];
      readonly verification: Verification["state"];
      readonly exitCode?: number;
      readonly failureClass?: FailureClass;
      /** Bases for the freshness check. */
      readonly observed: readonly ObservedFile[];
    }
  | ({
      readonly type: "usage";
      readonly modelId: string;
      readonly maxContextTokens: number;
      readonly cost?: Cost;
      /** The answer was not part of the conversation. */
      readonly purpose?: "compaction";
      /** The provider did not say; this is our guess. */
      readonly estimated?: boolean;
    } & Usage)
  | {
      readonly type: "final";
      readonly text: string;
      readonly thinking: string;
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly modelId: string;
      readonly maxContextTokens: number;
      readonly cachedInputTokens?: number;
      readonly cost?: Cost;
      /** What the session used so far; logs of before it was counted have none. */
      readonly sessionUsage?: UsageSum;
    }
  /** What the server put behind the user's message: files that it mentions, what the editor shows. */
  | {
      readonly type: "context-added";
      readonly items: readonly ContextItem[];
      /** For the model; empty when nothing could be had. */
      readonly text: string;
      /** Bases for the freshness check. */
      readonly observed: readonly ObservedFile[];
    }
  | ({ readonly type: "warning" } & Warning)
  /** The answer that was under way counts for nothing: it broke off, and is asked for again. */
  | { readonly type: "answer-dropped"; readonly reason: string }
  /** What the server tells the model, behind what was said last. */
  | { readonly type: "model-note"; readonly text: string }
  /** What the server tells the model about a call, behind its result. */
  | { readonly type: "call-note"; readonly toolCallId: string; readonly text: string }
  | Compacted
  | InstructionsTold
  | { readonly type: "session-renamed"; readonly title: string }
  | {
      readonly type: "error";
      readonly code: string;
      readonly message: string;
      readonly hint?: string;
      readonly retryable: boolean;
      /** Of a turn that was cut off and that another one can go on with. */
      readonly canContinue?: true;
    }
  | { readonly type: "client-request"; readonly request: ClientRequest }
  /** Its question has no deadline any more. */
  | { readonly type: "client-request-waits"; readonly requestId: string }
  | {
      readonly type: "client-request-resolved";
      readonly requestId: string;
      readonly resolution: RequestResolution;
      readonly clientId: string;
      /** What a question of the gate came to; absent for other requests, and where nobody answered. */
      readonly reply?: ResolvedReply;
      /** Whose answer it is, on a server with many users. */
      readonly user?: string;
    }
  | { readonly type: "todos-changed"; readonly items: readonly Todo[] }
  | { readonly type: "proposed-changes"; readonly proposal: Proposal }
  | { readonly type: "proposal-review"; readonly review: ProposalReview }
  | {
      readonly type: "change-set-applied";
      readonly changeSetId: string;
      readonly files: readonly FileChangeRecord[];
      readonly proposalId?: string;
      /** The call that made these changes; left out when a person did, and in sessions of before. */
      readonly toolCallId?: string;
      /** The branch they were written on; left out when on none, and in sessions of before. */
      readonly branch?: string;
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
  | ({ readonly type: "rule-violation" } & RuleViolation)
  /** `context` is the block that enters every later model call. */
  | { readonly type: "intent-selected"; readonly intent: Intent; readonly context: string }
  | { readonly type: "rules-changed"; readonly status: RulesStatus }
  /** A plan of the session, see `PlanRecord`. */
  | { readonly type: "plan-changed"; readonly planId: string; readonly change: PlanChange }
  | { readonly type: "change-set-undone"; readonly changeSetId: string; readonly files: readonly FileChangeRecord[] }
  /** A command in the background began or ended, or a person opened a port of it. */
  | {
      readonly type: "background-run";
      readonly what: "started" | "ended" | "port-opened";
      readonly run: BackgroundRunRecord;
    }
  /** Attempts at a prompt went on: which ones, and how far, the server says. */
  | {
      readonly type: "attempts-changed";
      readonly attemptsId: string;
      /** The one that did; 0: all of them. */
      readonly attempt: number;
      /** What its turn has used of the session's limits. */
      readonly used?: UsageSum;
    }
  /** The tree was kept before a call that runs something. */
  | {
      readonly type: "checkpoint-taken";
      readonly checkpointId: string;
      readonly toolCallId: string;
      readonly toolName: string;
    }
  /** What differed after that call. */
  | {
      readonly type: "checkpoint-closed";
      readonly checkpointId: string;
      /** The first of them. */
      readonly files: readonly Pick<FileChangeRecord, "path" | "operation">[];
      /** How many more there were. */
      readonly more: number;
    }
  /** A person takes back what was done since a checkpoint: the files, before they are written. */
  | {
      readonly type: "checkpoint-restoring";
      readonly checkpointId: string;
      readonly restoreId: string;
      readonly files: readonly FileChangeRecord[];
    }
  /** A person took back what was done since a checkpoint. */
  | {
      readonly type: "checkpoint-restored";
      readonly checkpointId: string;
      /** Names this restoring, to take it back in turn. */
      readonly restoreId: string;
      readonly files: readonly FileChangeRecord[];
      readonly skipped: readonly SkippedFile[];
      /** Its server went away before it was done, or a write failed: `files` are those that were written until then. */
      readonly interrupted?: boolean;
    };

export interface ContextItem {
  /** As the user wrote it, e.g. `@src/a.ts:10-20`, or `selection`, `open files`. */
  readonly name: string;
  /** `refused`: the rules do not let the agent have it, or it is not there. */
  readonly state: "included" | "cut" | "refused";
  /** Why it was refused or cut; empty otherwise. */
  readonly reason: string;
}

/** The conversation became shorter. How, `Conversation` says; the log keeps everything. */
export interface Compacted {
  readonly type: "compacted";
  /** `outputs`: large outputs of old calls were left out. `summary`: old messages became one. */
  readonly stage: "outputs" | "summary";
  /** Why: it came near the model's limit, the provider said it was beyond it, or the user asked for it. */
  readonly reason: "limit" | "overflow" | "user";
  /** How many of the first messages it concerns. */
  readonly dropped: number;
  /** How many messages behind them stay as they are. */
  readonly kept: number;
  /** The model's; empty when it gave none, and for `outputs`. */
  readonly summary: string;
  /** Characters that what the server recorded should take; what may not be left out takes more if it must. */
  readonly room: number;
  /** Tokens of the next request, as far as they are known: measured or estimated. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

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
