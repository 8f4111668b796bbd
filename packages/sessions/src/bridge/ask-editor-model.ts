import { ModelError } from "@gennai/agent/model";
import type { AskEditor } from "@gennai/models/editor-model";
import { editorRequests } from "@gennai/protocol/model/session/editor-requests";
import type { PendingRequests } from "./pending-requests.ts";

/** Asks the model of an attached editor, for one turn. */
export function askEditorModel(requests: PendingRequests, turnId: string): AskEditor {
  const { answerMs } = editorRequests["model-call"];
  return async (requestJson, { signal }) => {
    const end = await requests.ask(
      { kind: "model-call", requestJson },
      { ability: "model-call", turnId, signal, answerMs },
    );
    if (end.type !== "answered" || end.answer.kind !== "model-call") {
      throw new ModelError("unreachable", "No attached editor answered for its model.", {
        hint: "Open the session in VS Code, or choose another backend.",
        retryable: true,
      });
    }
    const { answer: eventsJson, error } = end.answer;
    if (error !== "") throw new ModelError("unreachable", `The editor's model gave no answer: ${error}`);
    return eventsJson;
  };
}
