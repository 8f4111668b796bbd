import type { HostRequest } from "@gennai/client/host/host-messages";
import type {
  AppliedProposal,
  CallToWatch,
  ChosenModel,
  EditorModel,
  HostCommand,
  ReviewToApply,
} from "@gennai/client/host/repl-host";
import type { EditorContext } from "@gennai/client/session/editor-context";
import type { ModelTrial } from "@gennai/client/session/model-choices";
import type { KeyToHand } from "@gennai/client/session/model-key";

/** What the app can ask of the editor. Each rejects with an `Error` whose message is shown to the user. */
export interface HostActions {
  applyProposal(review: ReviewToApply): Promise<AppliedProposal>;
  revertChangeSet(sessionId: string, changeSetId: string): Promise<void>;
  /** @param path from the app, so not trusted */
  openFile(path: string, line: number | undefined): Promise<void>;
  /** @param place `file:line`; from the app, so not trusted */
  openRule(place: string): Promise<void>;
  openDiff(sessionId: string, proposalId: string, changeId: string): Promise<void>;
  /** @param call call of a session; from the app, so not trusted */
  watchCall(sessionId: string, call: CallToWatch): Promise<void>;
  openChange(change: Omit<Extract<HostRequest, { type: "open-change" }>, "type">): Promise<void>;
  editorContext(): Promise<EditorContext>;
  /** @param uris from the app, so not trusted */
  namesOfDropped(uris: readonly string[]): Promise<readonly string[]>;
  keepModel(choice: ChosenModel): Promise<void>;
  keepModelKey(key: KeyToHand): Promise<void>;
  listEditorModels(): Promise<readonly EditorModel[]>;
  tryEditorModel(model: string): Promise<ModelTrial>;
  runHostCommand(command: HostCommand): Promise<void>;
}

/** Answers one request; the value is sent to the app unchanged. */
export async function answerHostRequest(request: HostRequest, actions: HostActions): Promise<unknown> {
  switch (request.type) {
    case "apply-proposal":
      return actions.applyProposal(reviewOf(request.review));
    case "revert-change-set":
      return actions.revertChangeSet(request.sessionId, request.changeSetId);
    case "open-file":
      return actions.openFile(request.path, request.line);
    case "open-rule":
      return actions.openRule(request.place);
    case "open-diff":
      return actions.openDiff(request.sessionId, request.proposalId, request.changeId);
    case "watch-call": {
      const { sessionId, turnId, callId, afterSeq, command } = request;
      return actions.watchCall(sessionId, { turnId, callId, afterSeq: BigInt(afterSeq), command });
    }
    case "open-change":
      return actions.openChange(request);
    case "editor-context":
      return actions.editorContext();
    case "names-of-dropped":
      return actions.namesOfDropped(request.uris);
    case "keep-model":
      return actions.keepModel(request.choice);
    case "keep-model-key":
      return actions.keepModelKey(request);
    case "list-editor-models":
      return actions.listEditorModels();
    case "try-editor-model":
      return actions.tryEditorModel(request.model);
    case "run-host-command":
      return actions.runHostCommand(request.command);
  }
}

function reviewOf(review: Extract<HostRequest, { type: "apply-proposal" }>["review"]): ReviewToApply {
  const { sessionId, proposalId, hunks, note } = review;
  return { sessionId, proposalId, hunks, note };
}
