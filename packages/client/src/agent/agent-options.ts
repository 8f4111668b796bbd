import type { Question } from "@gennai/protocol/model/governance/question";
import type { Backend } from "@gennai/protocol/model/session/backend";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";
import type { UserQuestion, UserReply } from "@gennai/protocol/model/session/user-question";
import type { ConfirmationReply } from "../connection/editor.ts";

/** What an agent is to work on, and who answers for it. */
export interface AgentOptions {
  /** Absolute path on the server's machine; without it the server's own. Fixed once a session has begun. */
  readonly workspace?: string;
  /** Id of a session to go on with; without it a new one begins. */
  readonly resume?: string;
  /** Without it the server's. */
  readonly model?: ModelChoice;
  /** `branch`, as is usual: the agent writes on a branch of its own. `proposal`: nothing is written, changes are proposed. */
  readonly mode?: EditingMode;
  /** Shown to people beside what was done, e.g. `nightly-upgrades`. */
  readonly name?: string;
  /**
   * Answers a question of the server's rules; a promise may take as long as it likes. Without it, what needs a yes is refused. What
   * is thrown is a no with that reason.
   */
  readonly confirm?: (question: Question, options: CallOptions) => ConfirmationReply | Promise<ConfirmationReply>;
  /** Answers what the model itself wants to know. Without it, the model is not offered to ask. */
  readonly askUser?: (questions: readonly UserQuestion[], options: CallOptions) => UserReply | Promise<UserReply>;
  /** Ends every call and every iteration. */
  readonly signal?: AbortSignal;
}

/** A model, and where it is. */
export interface ModelChoice {
  readonly backend?: Backend;
  /** As its provider names it. */
  readonly name?: string;
  /** Of a server that speaks a provider's protocol. */
  readonly baseUrl?: string;
}

/** Of a call, or of a question. */
export interface CallOptions {
  /** Aborts when there is no need for it any more. */
  readonly signal: AbortSignal;
}

/** What goes along with a request. */
export interface RunOptions {
  /** Of those that the server lists, e.g. `/review`'s. */
  readonly scenario?: string;
  /** Bytes of PNG, JPEG, GIF or WebP images. */
  readonly images?: readonly Uint8Array[];
  /** Ends the iteration; the turn goes on. */
  readonly signal?: AbortSignal;
}
