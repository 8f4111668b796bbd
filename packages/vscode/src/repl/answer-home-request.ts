import type { HomeRequest } from "@gennai/client/home/home-messages";
import type { AppliedProposal, HomeCommand, ReviewToApply } from "@gennai/client/home/repl-home";
import type { EditorContext } from "@gennai/client/session/editor-context";

/** What the app can ask of the editor. Each rejects with an `Error` whose message is shown to the user. */
export interface HomeActions {
  applyProposal(review: ReviewToApply): Promise<AppliedProposal>;
  revertChangeSet(sessionId: string, changeSetId: string): Promise<void>;
  /** @param path as the app has it: nothing that is trusted */
  openFile(path: string, line: number | undefined): Promise<void>;
  openDiff(sessionId: string, proposalId: string, changeId: string): Promise<void>;
  editorContext(): Promise<EditorContext>;
  runHomeCommand(command: HomeCommand): Promise<void>;
}

/** Answers one request; the value goes back to the app as it is. */
export async function answerHomeRequest(request: HomeRequest, actions: HomeActions): Promise<unknown> {
  switch (request.type) {
    case "apply-proposal":
      return actions.applyProposal(reviewOf(request.review));
    case "revert-change-set":
      return actions.revertChangeSet(request.sessionId, request.changeSetId);
    case "open-file":
      return actions.openFile(request.path, request.line);
    case "open-diff":
      return actions.openDiff(request.sessionId, request.proposalId, request.changeId);
    case "editor-context":
      return actions.editorContext();
    case "run-home-command":
      return actions.runHomeCommand(request.command);
  }
}

function reviewOf(review: Extract<HomeRequest, { type: "apply-proposal" }>["review"]): ReviewToApply {
  const { sessionId, proposalId, hunks, note } = review;
  return { sessionId, proposalId, hunks, note };
}
