import { SessionAttempts } from "@gennai/client/attempts";
import type { ModelTrial } from "@gennai/client/host/model-choices";
import type { AnsweredRequests, EditorModel } from "@gennai/client/host/window-requests";
import { textWithoutNul } from "@gennai/protocol/diff/utf8-text";
import { errorMessage } from "@gennai/protocol/error-message";
import { providerNames } from "@gennai/protocol/model/session/backend";
import * as vscode from "vscode";
import { callLanguageModel } from "../chat/language-model.ts";
import { revert } from "../commands/revert.ts";
import { openRuleAt } from "../commands/show-rule.ts";
import type { Workbench } from "../commands/workbench.ts";
import { showAppliedChange } from "../documents/applied-diff.ts";
import { columnBesideRepl } from "../documents/beside-repl.ts";
import type { ContentDocuments } from "../documents/content-documents.ts";
import { editorContext } from "../documents/editor-context.ts";
import { showProposedChange } from "../documents/proposal-diff.ts";
import { sidesOfDiff } from "../documents/unified-diff.ts";
import { nameOfUri, uriInWorkspace } from "../editor/workspace-uri.ts";
import { did } from "../settings/did.ts";
import { keepModel } from "../settings/keep-model.ts";

const applyTimeoutMs = 60_000;

/** What the REPL may ask of this window. Paths and ids come from outside, so each is checked here. */
export function hostActions(workbench: () => Workbench): AnsweredRequests {
  const proposal = async (sessionId: string, proposalId: string) => {
    const { sessions } = workbench();
    const session = await sessions.follow(sessionId);
    const found = sessions.view.proposal(proposalId)?.proposal;
    if (found === undefined)
      throw new Error("This window does not know that proposal. Reload the window and try again.");
    return { session, proposal: found };
  };
  return {
    async applyProposal(review) {
      const { session, proposal: found } = await proposal(review.sessionId, review.proposalId);
      const signal = AbortSignal.timeout(applyTimeoutMs);
      const applied = await workbench().applier.apply(found, review, { session, signal });
      did("reviewed");
      return applied;
    },
    async revertChangeSet(changeSetId, sessionId) {
      await revert(workbench(), await workbench().sessions.follow(sessionId), changeSetId);
      did("reviewed");
    },
    async openFile({ path, line }) {
      const uri = await uriInWorkspace(workbench().root, path);
      const position = line === undefined ? undefined : new vscode.Position(line - 1, 0);
      await vscode.window.showTextDocument(uri, {
        preview: true,
        viewColumn: columnBesideRepl(),
        ...(position === undefined ? {} : { selection: new vscode.Range(position, position) }),
      });
    },
    openRule: (place) => openRuleAt(place, workbench().root),
    async openDiff({ proposalId, changeId }, sessionId) {
      const { session, proposal: found } = await proposal(sessionId, proposalId);
      await showProposedChange(found, changeId, session, workbench().documents);
      did("reviewed");
    },
    async openText({ title, text, kind }) {
      if (kind === "diff" && (await showQuestionDiff(text, workbench()))) return;
      const uri = workbench().documents.add(title.replaceAll("/", "_"), text);
      const document = await vscode.workspace.openTextDocument(uri);
      if (kind === "diff") await vscode.languages.setTextDocumentLanguage(document, "diff");
      await vscode.window.showTextDocument(document, {
        preview: true,
        preserveFocus: true,
        viewColumn: columnBesideRepl(),
      });
    },
    async watchCall(call, sessionId) {
      const { sessions, background } = workbench();
      background.watchCall(await sessions.follow(sessionId), call);
    },
    async openChange({ path, beforeSha256, afterSha256, attemptsId }, sessionId) {
      const { sessions, documents, root } = workbench();
      const session = await sessions.follow(sessionId);
      const attempts = new SessionAttempts(session.client, session.sessionId);
      const source =
        attemptsId === undefined
          ? session
          : {
              blob: (sha256: string, options: { readonly signal: AbortSignal }) =>
                attempts.content(attemptsId, sha256, options),
            };
      await showAppliedChange({ path, beforeSha256, afterSha256 }, { source, documents, root });
      did("reviewed");
    },
    editorContext: async () => editorContext(workbench().root),
    namesOfDropped: async (uris) => namesOfDropped(workbench().root, uris),
    async keepModel(choice) {
      await keepModel(choice);
      did("modelChosen");
    },
    async keepModelKey({ backend, baseUrl, key }) {
      const provider = providerNames.find((each) => each === backend);
      if (provider === undefined) throw new Error(`The backend ${backend} takes no key.`);
      const bench = workbench();
      await bench.modelKeys.set(await bench.connect(), { backend: provider, baseUrl, key });
    },
    listEditorModels,
    tryEditorModel,
    async runHostCommand(command) {
      await vscode.commands.executeCommand(`gennai.${command}`);
    },
  };
}

/** Workspace paths of what was dragged from the explorer or from a desktop, without what is outside. @param root absolute */
function namesOfDropped(root: string, uris: readonly string[]): readonly string[] {
  return (
    uris
      .map((text) => vscode.Uri.parse(text))
      // A window on another machine puts that machine into its URIs; for the extension there, these are files.
      .map((uri) => nameOfUri(root, uri.scheme === "vscode-remote" ? vscode.Uri.file(uri.path) : uri))
      .filter((name) => name !== undefined)
  );
}

/** Milliseconds; long, because the editor may ask its user first. */
const timeoutMs = 60_000;

/** Models that other extensions offer to every extension. */
async function listEditorModels(): Promise<readonly EditorModel[]> {
  const models = await vscode.lm.selectChatModels();
  return models.map(({ vendor, id, maxInputTokens }) => ({ model: `${vendor}/${id}`, contextTokens: maxInputTokens }));
}

/** Asks a model for one word. Never rejects. */
async function tryEditorModel(model: string): Promise<ModelTrial> {
  const began = performance.now();
  try {
    await callLanguageModel(
      JSON.stringify({
        model,
        system: "Answer with one word.",
        messages: [{ role: "user", text: "Say hello." }],
        tools: [],
      }),
      { signal: AbortSignal.timeout(timeoutMs) },
    );
    return { type: "answered", milliseconds: Math.round(performance.now() - began) };
  } catch (error) {
    return { type: "failed", problem: errorMessage(error), hint: "" };
  }
}

/** Shows what a question would have kept in the editor's own diff. False if the text is no whole diff: then it is shown as a text. */
async function showQuestionDiff(
  diff: string,
  { root, documents }: { readonly root: string; readonly documents: ContentDocuments },
): Promise<boolean> {
  const textOf = async (path: string): Promise<string | undefined> => {
    try {
      return textWithoutNul(await vscode.workspace.fs.readFile(await uriInWorkspace(root, path)));
    } catch {
      return undefined;
    }
  };
  const sides = await sidesOfDiff(diff, textOf);
  if (sides === undefined) return false;
  const group = documents.group();
  const resources = sides.map(({ path, before, after }) => [group.add(path, before), group.add(path, after)] as const);
  const [first] = resources;
  if (resources.length === 1 && first !== undefined) {
    const title = `${sides[0]?.path ?? ""} (would be kept)`;
    await vscode.commands.executeCommand("vscode.diff", ...first, title, {
      preview: true,
      preserveFocus: true,
      viewColumn: columnBesideRepl(),
    });
  } else {
    const files = resources.map(([before, after]) => [after, before, after]);
    await vscode.commands.executeCommand("vscode.changes", "What would be kept", files);
  }
  return true;
}
