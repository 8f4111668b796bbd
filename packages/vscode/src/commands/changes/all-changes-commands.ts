import { decideMany } from "@gennai/client/host/review-state";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { plural } from "@gennai/protocol/plural";
import { otherHalf } from "@gennai/protocol/whole-moves";
import * as vscode from "vscode";
import { askModally, showInformation } from "../../editor/notifications.ts";
import { showsAll } from "../../review/editor-review.ts";
import { undoWritten } from "../../review/undo-written.ts";
import type { UnseenFile } from "../../review/unseen-file.ts";
import type { Command, Workbench } from "../workbench.ts";
import { decided } from "./review-commands.ts";

const callTimeoutMs = 30_000;

/** Keeps all that the active editor shows of the agent's changes; where it shows none, or a diff of all, keeps everything. */
export const keepAll: Command = async (workbench) => {
  const { proposed, written } = changesShown(workbench);
  for (const [proposal, changes] of proposed) decideAbout(workbench, proposal, changes, "keep");
  workbench.unseen.lookAt(written.map(({ path }) => path));
  said(proposed.size + written.length === 0 ? "there is no change to keep" : `${count(proposed, written)} kept`);
};

/** The same to refuse what is proposed, and to take back what is written, which is asked first where it is more than a file. */
export const undoAll: Command = async (workbench) => {
  const { proposed, written } = changesShown(workbench);
  const what = `Undo the agent's changes of ${plural(written.length, "file")}?`;
  if (
    written.length > 1 &&
    (await askModally(what, written.map(({ path }) => path).join("\n"), "Undo All")) === undefined
  )
    return;
  for (const [proposal, changes] of proposed) decideAbout(workbench, proposal, changes, "undo");
  const left: string[] = [];
  const { files, changeSets, root: workspace } = workbench;
  for (const file of written) {
    const signal = AbortSignal.timeout(callTimeoutMs);
    await undoWritten({ files, changeSets, workspace }, file, "all", { signal }).catch(() => left.push(file.path));
    await workbench.unseen.recheck(file.path);
  }
  if (left.length > 0) void showInformation(`You changed the same lines since, so these stay: ${left.join(", ")}`);
  else said(proposed.size + written.length === 0 ? "there is no change to undo" : `${count(proposed, written)} undone`);
};

interface ShownChanges {
  readonly proposed: ReadonlyMap<Proposal, readonly ProposedChange[]>;
  readonly written: readonly UnseenFile[];
}

function changesShown({ review, unseen }: Workbench): ShownChanges {
  const editor = vscode.window.activeTextEditor;
  const found = showsAll() || editor === undefined ? undefined : review.hunksOf(editor.document);
  if (found === undefined || found.hunks.length === 0) {
    const all = [...review.proposals.values()].map((proposal) => [proposal, proposal.changes] as const);
    return { proposed: new Map(all), written: unseen.files };
  }
  if (found.proposed !== undefined) {
    const { proposal, change } = found.proposed;
    const other = otherHalf(change, proposal.changes);
    return { proposed: new Map([[proposal, other === undefined ? [change] : [change, other]]]), written: [] };
  }
  const file = unseen.of(found.path);
  return { proposed: new Map(), written: file === undefined ? [] : [file] };
}

function decideAbout(
  workbench: Workbench,
  proposal: Proposal,
  changes: readonly ProposedChange[],
  type: "keep" | "undo",
): void {
  const blocked = new Set(changes.filter(({ conflict }) => conflict).map(({ id }) => id));
  decided(workbench, proposal, decideMany(workbench.reviews.of(proposal), changes, { type }, { blocked }));
}

function count(proposed: ShownChanges["proposed"], written: ShownChanges["written"]): string {
  const changes = [...proposed.values()].reduce((sum, each) => sum + each.length, written.length);
  return plural(changes, "file");
}

function said(words: string): void {
  void vscode.window.setStatusBarMessage(`Gennai: ${words}`, 5000);
}
