import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import { proposalText } from "../../documents/proposal-diff.ts";
import { showInformation } from "../../editor/notifications.ts";
import { uriInWorkspace } from "../../editor/workspace-uri.ts";
import { hunkBeside } from "../../review/editor-hunks.ts";
import type { ShownHunk } from "../../review/shown-hunk.ts";
import type { Command, Workbench } from "../../workbench.ts";

export const nextHunk: Command = async (workbench) => walk(workbench, 1);

export const previousHunk: Command = async (workbench) => walk(workbench, -1);

/** A file with hunks. */
type HunkFile =
  | { readonly type: "proposed"; readonly path: string; readonly proposal: Proposal; readonly change: ProposedChange }
  | { readonly type: "written"; readonly path: string };

/** Moves within the shown file, then to the other files, in a circle. */
async function walk(workbench: Workbench, distance: 1 | -1): Promise<void> {
  const { review } = workbench;
  const editor = vscode.window.activeTextEditor;
  const here = editor && review.hunksOf(editor.document);
  const beside = hunkBeside(here?.hunks ?? [], editor?.selection.active.line ?? 0, distance);
  if (editor !== undefined && beside !== undefined) return goTo(editor, beside);
  const files = filesWithHunks(workbench);
  const at = files.findIndex(({ path }) => path === here?.path);
  const from = at === -1 && distance === -1 ? 0 : at;
  for (let step = 1; step <= files.length; step++) {
    const file = files[(from + distance * step + files.length * 2) % files.length];
    const shown = file && (await open(workbench, file));
    const hunks = (shown && review.hunksOf(shown.document)?.hunks) ?? [];
    const hunk = distance === 1 ? hunks[0] : hunks.at(-1);
    if (shown !== undefined && hunk !== undefined) return goTo(shown, hunk);
  }
  void showInformation("There is no change of the agent to look at.");
}

function filesWithHunks({ review, unseen }: Workbench): readonly HunkFile[] {
  const proposed = [...review.proposals.values()].flatMap((proposal) =>
    proposal.changes.map((change): HunkFile => ({ type: "proposed", path: change.path, proposal, change })),
  );
  const paths = new Set(proposed.map(({ path }) => path));
  const written = unseen.files.filter(({ path, agent }) => agent !== undefined && !paths.has(path));
  return [...proposed, ...written.map(({ path }): HunkFile => ({ type: "written", path }))];
}

/** A file that does not exist yet is shown with its proposed text. */
async function open(workbench: Workbench, file: HunkFile): Promise<vscode.TextEditor | undefined> {
  if (file.type === "proposed") {
    const { proposal, change } = file;
    await workbench.review.texts.loaded(proposal, change);
    if (change.operation === "create") {
      const { fresh } = await proposalText(change, await workbench.session());
      const side = { proposalId: proposal.proposalId, changeId: change.id, side: "fresh" } as const;
      return vscode.window.showTextDocument(workbench.documents.shownAs(change.path, fresh, side));
    }
  }
  const uri = await uriInWorkspace(workbench.root, file.path);
  try {
    return await vscode.window.showTextDocument(uri);
  } catch {
    // The file is gone or is not text: the next one is tried.
    return undefined;
  }
}

function goTo(editor: vscode.TextEditor, { line }: ShownHunk): void {
  const position = new vscode.Position(Math.min(line, editor.document.lineCount - 1), 0);
  editor.selection = new vscode.Selection(position, position);
  editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
