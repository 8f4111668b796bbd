import type { ClientRequest } from "@gennai/agent/client-request";
import type { FileChangeRecord } from "@gennai/agent/proposal";
import type { ConfirmationScope } from "@gennai/protocol/model/question";
import type { WorkspaceAnswer } from "../client-workspace/workspace-answer.ts";
import type { EditorDiagnostic, EditorFile, EditorSymbol, TerminalRun } from "./editor-bridge.ts";

/** What a client answered, in the server's own terms; one kind for each kind of request. */
export type ClientAnswer =
  | { readonly kind: "file-read"; readonly file: EditorFile; readonly error: string }
  | { readonly kind: "apply-changes"; readonly files: readonly FileChangeRecord[]; readonly error: string }
  /** Events of the model contract, as JSON. */
  | { readonly kind: "model-call"; readonly eventsJson: string; readonly error: string }
  | { readonly kind: "diagnostics"; readonly diagnostics: readonly EditorDiagnostic[]; readonly error: string }
  | {
      readonly kind: "find-symbols";
      readonly symbols: readonly EditorSymbol[];
      readonly truncated: boolean;
      readonly error: string;
    }
  | { readonly kind: "workspace"; readonly answer: WorkspaceAnswer }
  | { readonly kind: "command"; readonly run: TerminalRun; readonly error: string }
  | {
      readonly kind: "confirmation";
      /** `none`: the client could ask nobody; never recorded as a person's word. */
      readonly answer: "yes" | "no" | "nobody" | "unclear";
      readonly scope: ConfirmationScope;
      readonly reason: string;
      readonly actionSha256: string;
      /** Id of the offered pattern that a yes holds for; absent: the exact action. */
      readonly pattern?: string;
    };

/** Whether an answer is one to this request: right kind, about the path that was asked for, a yes to the action that was shown. */
export function answersRequest(request: ClientRequest, answer: ClientAnswer): boolean {
  if (request.kind !== answer.kind) return false;
  if (request.kind === "confirmation" && answer.kind === "confirmation")
    return answer.answer !== "yes" || answer.actionSha256 === request.question.actionSha256;
  if (request.kind === "workspace" && answer.kind === "workspace")
    return answer.answer.type === "failure" || answer.answer.type === request.operation.type;
  return request.kind !== "file-read" || answer.kind !== "file-read" || answer.file.path === request.path;
}
