import type { EditorMethods, EditorRequestKind } from "@gennai/protocol/model/editor/editor-messages";

/**
 * What a turn can ask of the clients attached to its session: a method for each of `editorRequests`, but for the model,
 * which is asked on its own, and for the user. Each request is durable before it is sent and answered once.
 *
 * Methods throw `ToolFailure`: `client_error` with what the editor answered, `client_timeout`.
 */
export interface EditorBridge extends Omit<EditorMethods<EditorCallOptions>, "callModel" | "askUser"> {
  /** True when an attached client said it can answer this. */
  can(kind: EditorRequestKind): boolean;
}

export interface EditorCallOptions {
  readonly signal: AbortSignal;
  /** Output of a command as it comes. */
  readonly onOutput?: (text: string) => void;
}
