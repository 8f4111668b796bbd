import { ownDecisions } from "@gennai/client/host/review-state";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import { showProposedChange } from "../../documents/proposal-diff.ts";
import { showInformation } from "../../editor/notifications.ts";
import { uriInWorkspace } from "../../editor/workspace-uri.ts";
import { hunkBeside } from "../../review/editor-hunks.ts";
import { proposedHunks, type ShownHunk } from "../../review/shown-hunk.ts";
import type { Command, Workbench } from "../workbench.ts";

export const nextHunk: Command = async (workbench) => walk(workbench, 1);

export const previousHunk: Command = async (workbench) => walk(workbench, -1);

/** A file with hunks. */
type HunkFile =
  | { readonly type: "proposed"; readonly path: string; readonly proposal: Proposal; readonly change: ProposedChange }
  | { readonly type: "written"; readonly path: string };

/** Moves within the shown diff, then to the diffs of the other files, in a circle. From a file, its own diff comes first. */
async function walk(workbench: Workbench, distance: 1 | -1): Promise<void> {
  const { review } = workbench;
  const editor = vscode.window.activeTextEditor;
  const here = editor && review.hunksOf(editor.document);
  const isDiff = vscode.window.tabGroups.activeTabGroup.activeTab?.input instanceof vscode.TabInputTextDiff;
  const beside = isDiff ? hunkBeside(here?.hunks ?? [], editor?.selection.active.line ?? 0, distance) : undefined;
  if (editor !== undefined && beside !== undefined) return goTo(editor, beside);
  const files = filesWithHunks(workbench);
  const at = files.findIndex(({ path }) => path === here?.path);
  const from = at === -1 ? (distance === 1 ? -1 : 0) : isDiff ? at : at - distance;
  for (let step = 1; step <= files.length; step++) {
    const file = files[(from + distance * step + files.length * 2) % files.length];
    if (file !== undefined && (await shown(workbench, file, distance))) return;
  }
  void showInformation("There is no change of the agent to look at.");
}

function filesWithHunks({ review, unseen }: Workbench): readonly HunkFile[] {
  const proposed = [...review.proposals.values()].flatMap((proposal) =>
    ownDecisions(proposal.changes).map(
      (change): HunkFile => ({ type: "proposed", path: change.path, proposal, change }),
    ),
  );
  const paths = new Set(proposed.map(({ path }) => path));
  const written = unseen.files.filter(({ path }) => !paths.has(path));
  return [...proposed, ...written.map(({ path }): HunkFile => ({ type: "written", path }))];
}

/** Shows a file's diff at its first hunk, or its last. False if it has none. */
async function shown(workbench: Workbench, file: HunkFile, distance: 1 | -1): Promise<boolean> {
  const { review, root, reviews, documents, unseen } = workbench;
  const end = (hunks: readonly ShownHunk[]) => (distance === 1 ? hunks[0] : hunks.at(-1));
  if (file.type === "proposed") {
    const { proposal, change } = file;
    await review.texts.loaded(proposal, change);
    const { fresh } = review.texts.of(proposal, change) ?? {};
    if (fresh === undefined) return false;
    const hunk = end(proposedHunks(change, reviews.of(proposal), "fresh", { side: fresh, now: fresh }));
    if (hunk === undefined) return false;
    await showProposedChange(proposal, change.id, await workbench.session(), documents, hunk.line);
    return true;
  }
  if (unseen.of(file.path)?.agent === undefined) {
    await showWritten(workbench, file.path, 0);
    return true;
  }
  try {
    const document = await vscode.workspace.openTextDocument(await uriInWorkspace(root, file.path));
    const hunk = end(review.hunksOf(document)?.hunks ?? []);
    if (hunk !== undefined) await showWritten(workbench, file.path, hunk.line);
    return hunk !== undefined;
  } catch {
    // The file is gone or is not text: the next one is tried.
    return false;
  }
}

/** A file beside what its user knows of it; removed lines are there, too. */
export async function showWritten({ documents, unseen, root }: Workbench, path: string, line: number): Promise<void> {
  const { base = "", agent, movedFrom } = unseen.of(path) ?? {};
  const before = documents.add(movedFrom ?? path, base);
  const isGone = agent === undefined;
  const after = isGone ? documents.add(path, "", { type: "file", path }) : await uriInWorkspace(root, path);
  const selection = new vscode.Range(line, 0, line, 0);
  const title = `${path} (${isGone ? "deleted " : ""}since you looked)`;
  await vscode.commands.executeCommand("vscode.diff", before, after, title, { preview: true, selection });
}

function goTo(editor: vscode.TextEditor, { line }: ShownHunk): void {
  const position = new vscode.Position(Math.min(line, editor.document.lineCount - 1), 0);
  editor.selection = new vscode.Selection(position, position);
  editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
