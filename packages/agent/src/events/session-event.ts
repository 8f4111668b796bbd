import type { Intent } from "@gennai/governance/intents/intent";
import type { PlanChange } from "@gennai/governance/plan-change";
import type { RulesStatus } from "@gennai/governance/rules/rules-status";
import type { RuleViolation } from "@gennai/governance/rules/violation";
import type { ObservedFile, RefMove, Verification } from "@gennai/governance/tool";
import type { EmergencyControl, EmergencyState } from "@gennai/protocol/model/governance/emergency";
import type { Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";
import type { BlobRef, Proposal } from "@gennai/protocol/model/session/proposal";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { Todo } from "@gennai/protocol/model/session/todo";
import type { MessageCall } from "../model.ts";
import type { InstructionsTold } from "../prompt/instructions.ts";
import type { Cost, Usage, UsageSum } from "../usage.ts";
import type { ClientRequest, RequestResolution, ResolvedReply } from "./client-request.ts";
import type { DirectoryChangeRecord, FileChangeRecord, ProposalReview } from "./proposal.ts";
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

/** A background command, as recorded in a session's log. */
export interface BackgroundRunRecord {
  /** Unique in the session, e.g. `b1`. */
  readonly id: string;
  readonly command: string;
  /** How it ended, e.g. `exit code 1`; absent while it runs. */
  readonly end?: string;
  /** Exit code, if the command ended by itself. */
  readonly exitCode?: number;
  /** Ports of the command that are reachable from this machine: its own port, and the local loopback port. */
  readonly ports: readonly { readonly port: number; readonly local: number }[];
}

/** States in which a turn has ended. */
export const endStates: ReadonlySet<TurnState> = new Set(["completed", "error", "cancelled", "interrupted"]);

/**
 * One fact of a session. The log holds nothing else; conversation, todos and pending questions are folds over it. An
 * event with `parentToolCallId` belongs to the sub-agent that this call runs; it is not part of the session's own
 * conversation.
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
      /** Files that the source session had changed and that were not undone; this session cannot undo them. */
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
      /** Set for a message sent while a turn ran; it begins no turn, and `clientTurnId` is empty. */
      readonly messageId?: string;
      /** It is `!` and a command that the user had run; the call that follows is theirs. */
      readonly isCommand?: true;
    }
  /** In place of a user's message: this turn continues an interrupted one. */
  | {
      readonly type: "turn-continued";
      readonly continuedTurnId: string;
      readonly scenario: string;
      readonly clientTurnId: string;
      readonly enableThinking: boolean;
    }
  /** A message from the user to the running turn; it waits for the model's next call. */
  | {
      readonly type: "message-queued";
      readonly messageId: string;
      readonly text: string;
      readonly images: readonly BlobRef[];
    }
  /** The message was withdrawn before the model got it. */
  | { readonly type: "message-withdrawn"; readonly messageId: string }
  | {
      readonly type: "status";
      readonly state: TurnState;
      readonly iteration: number;
      readonly toolName?: string;
      readonly toolCallId?: string;
      /** When it continues by itself, milliseconds since the epoch. */
      readonly until?: number;
      /** Set in a fork: the turn ran in the source session, which records what happened to its calls. */
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
      /** Error message for people; the model reads `output`. */
      readonly error?: string;
      readonly truncated: boolean;
      readonly outputBlob?: BlobRef;
      /** The full output, if it was too long for the model and `output` has only its beginning and end. */
      readonly wholeOutput?: BlobRef;
      /** Images shown to the model after the output. */
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
      /** Set if the answer was not part of the conversation. */
      readonly purpose?: "compaction";
      /** True if the provider gave no count and this is an estimate. */
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
      /** Total use of the session so far; missing in old logs. */
      readonly sessionUsage?: UsageSum;
    }
  /** Context that the server added to the user's message: mentioned files, the state of the editor. */
  | {
      readonly type: "context-added";
      readonly items: readonly ContextItem[];
      /** Text for the model; empty if nothing could be fetched. */
      readonly text: string;
      /** Images that were mentioned. */
      readonly images?: readonly BlobRef[];
      /** Bases for the freshness check. */
      readonly observed: readonly ObservedFile[];
    }
  | ({ readonly type: "warning" } & Warning)
  /** The answer under way broke off and is discarded; the model is asked again. */
  | { readonly type: "answer-dropped"; readonly reason: string }
  /** A message from the server to the model, added at the end of the conversation. */
  | { readonly type: "model-note"; readonly text: string }
  /** A message from the server to the model about a call, added after its result. */
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
      /** Set for an interrupted turn that another turn can continue. */
      readonly canContinue?: true;
    }
  | { readonly type: "client-request"; readonly request: ClientRequest }
  /** The question no longer has a deadline. */
  | { readonly type: "client-request-waits"; readonly requestId: string }
  | {
      readonly type: "client-request-resolved";
      readonly requestId: string;
      readonly resolution: RequestResolution;
      readonly clientId: string;
      /** The answer to a question of the gate; absent for other requests and if there was no answer. */
      readonly reply?: ResolvedReply;
      /** The user who answered, on a server with several users. */
      readonly user?: string;
    }
  | { readonly type: "todos-changed"; readonly items: readonly Todo[] }
  | { readonly type: "proposed-changes"; readonly proposal: Proposal }
  | { readonly type: "proposal-review"; readonly review: ProposalReview }
  | {
      readonly type: "change-set-applied";
      readonly changeSetId: string;
      readonly files: readonly FileChangeRecord[];
      /** Absent if there are none, and in old sessions. */
      readonly directories?: readonly DirectoryChangeRecord[];
      readonly refs?: readonly RefMove[];
      readonly proposalId?: string;
      /** The call that made these changes; absent if a person made them, and in old sessions. */
      readonly toolCallId?: string;
      /** The branch on which they were written; absent on a detached HEAD, and in old sessions. */
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
  /** `context` is the block added to every later model call. */
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
  /** The working tree went to a branch for the agent. */
  | {
      readonly type: "branch-changed";
      readonly branch: string;
      readonly how: "created" | "switched";
      /** Where HEAD was, unless on no branch; without a commit, git does not know that branch any more. */
      readonly before?: { readonly branch: string; readonly commit: string | undefined };
    }
  /** Progress of a prompt's attempts; the server has the details. */
  | {
      readonly type: "attempts-changed";
      readonly attemptsId: string;
      /** The attempt that changed; 0: all. */
      readonly attempt: number;
      /** The part of the session's limits that the attempt's turn has used. */
      readonly used?: UsageSum;
    }
  /** A checkpoint was made before a call that runs something. */
  | {
      readonly type: "checkpoint-taken";
      readonly checkpointId: string;
      readonly toolCallId: string;
      readonly toolName: string;
    }
  /** Files that the call changed, compared with the checkpoint. */
  | {
      readonly type: "checkpoint-closed";
      readonly checkpointId: string;
      /** The first changed files. */
      readonly files: readonly Pick<FileChangeRecord, "path" | "operation">[];
      /** How many more there were. */
      readonly more: number;
    }
  /** A person is restoring a checkpoint: the files, logged before they are written. */
  | {
      readonly type: "checkpoint-restoring";
      readonly checkpointId: string;
      readonly restoreId: string;
      readonly files: readonly FileChangeRecord[];
    }
  /** A person restored a checkpoint. */
  | {
      readonly type: "checkpoint-restored";
      readonly checkpointId: string;
      /** Id of this restore, used to undo it. */
      readonly restoreId: string;
      readonly files: readonly FileChangeRecord[];
      readonly skipped: readonly SkippedFile[];
      /** The server stopped, or a write failed, before the restore was complete: `files` are those already written. */
      readonly interrupted?: boolean;
    };

export interface ContextItem {
  /** As the user wrote it, e.g. `@src/a.ts:10-20`, or `selection`, `open files`. */
  readonly name: string;
  /** `refused`: the rules do not allow the agent to read it, or it does not exist. */
  readonly state: "included" | "cut" | "refused";
  /** Why it was refused or cut; empty otherwise. */
  readonly reason: string;
}

/** The conversation was compacted. `Conversation` describes how; the log keeps everything. */
export interface Compacted {
  readonly type: "compacted";
  /** `outputs`: large outputs of old calls were dropped. `summary`: old messages were replaced with one. */
  readonly stage: "outputs" | "summary";
  /** Why: near the model's limit, over it according to the provider, or requested by the user. */
  readonly reason: "limit" | "overflow" | "user";
  /** How many of the first messages were compacted. */
  readonly dropped: number;
  /** How many of the last messages were kept unchanged. */
  readonly kept: number;
  /** The model's summary; empty if it gave none, and for `outputs`. */
  readonly summary: string;
  /** Characters to aim for in what the server recorded; exceeded if something in it must not be left out. */
  readonly room: number;
  /** Tokens of the next request: measured, or else estimated. */
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
