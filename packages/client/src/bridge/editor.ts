import type { EditorMethods } from "@gennai/protocol/model/editor/editor-messages";
import type { ConfirmationScope, Question } from "@gennai/protocol/model/governance/question";
import type { ClientWorkspacePort } from "../client-workspace/client-workspace-port.ts";

/**
 * What a server may ask of the place the user works in. Every method is optional: a client offers what it has, and is
 * asked for nothing else. A method that throws answers with the message of its error, so throw what a model can act on.
 * The signal aborts when the request is over: answered by another client, timed out, or cancelled. Which methods there
 * are besides these, `editorRequests` says.
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
  /** When the question expires; undefined: the clock does not run yet. */
  readonly deadline: Date | undefined;
}

export type ConfirmationReply =
  | {
      readonly answer: "yes";
      readonly scope: ConfirmationScope;
      /** Id of an offered pattern that the yes holds for; without it, it holds for the exact action. */
      readonly pattern?: string;
      /** Ids of offered parts that shall not be kept. Such a yes is for once. */
      readonly dropped?: readonly string[];
    }
  /** The user's word; the reason goes to the model. */
  | { readonly answer: "no"; readonly reason: string }
  /** There was nobody to ask. Denies, and is not recorded as anybody's word. */
  | { readonly answer: "nobody"; readonly reason: string };
