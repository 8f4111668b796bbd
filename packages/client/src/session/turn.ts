import { type EditorContext, editorContextFields } from "../host/editor-context.ts";

/** A turn that the server runs, watched or not. */
export interface Turn {
  readonly turnId: string;
  /** Following after this seq shows the whole turn. */
  readonly afterSeq: bigint;
}

export interface TurnRequest {
  /** Empty with `continues`. */
  readonly text: string;
  /** Id of the turn that was cut off and is gone on with, in place of a prompt. */
  readonly continues?: string;
  /** The text is a command that the user runs, as all commands run; no model is asked. */
  readonly runsCommand?: boolean;
  /** What a branch is for that the first write begins without a question; absent: a person is asked. */
  readonly branchTask?: string;
  /** Empty: the server's default for the session's mode. */
  readonly scenario?: string;
  /** Default: true. What is shown of it is each client's matter. */
  readonly enableThinking?: boolean;
  readonly images?: readonly Uint8Array[];
  /** The editor state that the user chose to send. */
  readonly context?: EditorContext;
}

/** The fields of a `StartTurnRequest` message; sending it repeatedly starts one turn. */
export function startTurnFields(sessionId: string, request: TurnRequest) {
  return {
    sessionId,
    scenario: request.scenario ?? "",
    userInput: request.text,
    continueTurnId: request.continues ?? "",
    branchTask: request.branchTask ?? "",
    runsCommand: request.runsCommand ?? false,
    enableThinking: request.enableThinking ?? true,
    images: [...(request.images ?? [])],
    ...(request.context === undefined ? {} : { editorContext: editorContextFields(request.context) }),
    clientTurnId: crypto.randomUUID(),
  };
}
