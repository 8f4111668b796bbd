import type { ConfirmationScope, Question } from "@gennai/protocol/model/governance/question";
import type { EditorMethods } from "@gennai/protocol/model/session/editor-messages";
import type { ClientWorkspacePort } from "./client-workspace-port.ts";

/**
 * What a server may request from the user's editor. Every method is optional: a client is asked only for what it implements. If
 * a method throws, its error message is the answer, so throw what a model can act on. The signal aborts when the request is
 * over: answered by another client, timed out, or cancelled. Further methods are listed in `editorRequests`.
 */
export interface Editor extends Partial<EditorMethods<CommandOptions>> {
  confirm?(question: ConfirmationQuestion, options: RequestOptions): Promise<ConfirmationReply>;
  /** Set when this client holds the session's files and the server cannot reach them. */
  readonly workspace?: ClientWorkspacePort;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
}

export interface CommandOptions extends RequestOptions {
  /** Call it with output as it comes. */
  readonly onOutput: (text: string) => void;
}

export interface ConfirmationQuestion extends Question {
  readonly requestId: string;
  /** The session that asks, where it is another one than the person sees. */
  readonly sessionId?: string;
  /** When the question expires; undefined: the clock does not run yet. */
  readonly deadline: Date | undefined;
  /** The user who agreed to it, where this person is asked as the second one. */
  readonly agreedBy?: string;
}

export type ConfirmationReply =
  | {
      readonly answer: "yes";
      readonly scope: ConfirmationScope;
      /** Id of an offered pattern that the yes holds for; without it, it holds for the exact action. */
      readonly pattern?: string;
      /** Ids of offered parts not to keep. Such a yes counts once. */
      readonly dropped?: readonly string[];
    }
  /** The user's answer; the reason goes to the model. */
  | { readonly answer: "no"; readonly reason: string }
  /** Nobody could be asked. Denies, and is not recorded as a user's answer. */
  | { readonly answer: "nobody"; readonly reason: string };
