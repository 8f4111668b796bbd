import * as vscode from "vscode";
import { revert } from "../commands/revert.ts";
import { editorContext } from "../documents/editor-context.ts";
import { showProposedChange } from "../documents/proposal-diff.ts";
import { resolveInWorkspace } from "../editor/workspace-paths.ts";
import { uriOf } from "../editor/workspace-uri.ts";
import type { Workbench } from "../workbench.ts";
import type { HomeActions } from "./answer-home-request.ts";

const applyPatience = 60_000;

/** What the REPL may ask of this window. Paths and ids come from outside: each is resolved here. */
export function homeActions(workbench: () => Workbench): HomeActions {
  const proposal = async (sessionId: string, proposalId: string) => {
    const { sessions } = workbench();
    const session = await sessions.follow(sessionId);
    const found = sessions.facts.proposals.get(proposalId);
    if (found === undefined)
      throw new Error("This window does not know that proposal. Reload the window and try again.");
    return { session, proposal: found };
  };
  return {
    async applyProposal(review) {
      const { session, proposal: found } = await proposal(review.sessionId, review.proposalId);
      const signal = AbortSignal.timeout(applyPatience);
      return workbench().applier.apply(found, review, { session, signal });
    },
    async revertChangeSet(sessionId, changeSetId) {
      await revert(workbench(), await workbench().sessions.follow(sessionId), changeSetId);
    },
    async openFile(path, line) {
      const { absolute } = await resolveInWorkspace(workbench().root, path);
      const position = line === undefined ? undefined : new vscode.Position(line - 1, 0);
      await vscode.window.showTextDocument(uriOf(absolute), {
        preview: true,
        ...(position === undefined ? {} : { selection: new vscode.Range(position, position) }),
      });
    },
    async openDiff(sessionId, proposalId, changeId) {
      const { session, proposal: found } = await proposal(sessionId, proposalId);
      await showProposedChange(found, changeId, session, workbench().documents);
    },
    editorContext: async () => editorContext(workbench().root),
    async runHomeCommand(command) {
      await vscode.commands.executeCommand(`gennai.${command}`);
    },
  };
}
