import type { EditorMethods, EditorRequestKind } from "@gennai/protocol/model/session/editor-messages";

/**
 * What a turn can ask of the session's clients: a method for each of `editorRequests`, except the model and the user, which
 * have their own ports. Each request is durable before it is sent and answered once.
 *
 * Methods throw `ToolFailure`: `client_error` with the editor's answer, `client_timeout`.
 */
export interface EditorBridge extends Omit<EditorMethods<EditorCallOptions>, "callModel" | "askUser"> {
  /** True if an attached client said it can answer this. */
  can(kind: EditorRequestKind): boolean;
}

export interface EditorCallOptions {
  readonly signal: AbortSignal;
  /** Output of a command as it comes. */
  readonly onOutput?: (text: string) => void;
}
