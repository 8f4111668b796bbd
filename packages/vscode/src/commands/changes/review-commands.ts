import { countDecisions, decideWhole, decisionFor, type ReviewState } from "@gennai/client/host/review-state";
import { proposedText } from "@gennai/client/review/change-content";
import type { HunkDecision } from "@gennai/protocol/apply-review";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import { showProposedChange } from "../../documents/proposal-diff.ts";
import { showInformation } from "../../editor/notifications.ts";
import { type DocumentHunks, hunkAt, type ProposedText } from "../../review/editor-hunks.ts";
import type { ShownHunk } from "../../review/shown-hunk.ts";
import { undoWritten } from "../../review/undo-written.ts";
import type { Command, Workbench } from "../workbench.ts";
import { hunkText } from "./hunk-text.ts";
import { showWritten } from "./walk-hunks.ts";

const callTimeoutMs = 30_000;

/** A hunk in the document that shows it. */
interface ChosenHunk {
  readonly document: vscode.TextDocument;
  readonly found: DocumentHunks;
  readonly hunk: ShownHunk;
}

/** Keeps a hunk. In a proposal, nothing is written yet; a change that the agent has written is marked as seen. */
export const keepHunk: Command = async (workbench, args) => {
  const chosen = await chooseHunk(workbench, args);
  if (chosen === undefined) return;
  const { found, hunk } = chosen;
  if (found.proposed === undefined) workbench.unseen.look(found.path, hunk.id);
  else decideHunk(workbench, found.proposed, hunk.id, { type: "keep" });
};

/** Drops a hunk of a proposal, or takes back in the file a change that the agent has written. */
export const undoHunk: Command = async (workbench, args) => {
  const chosen = await chooseHunk(workbench, args);
  if (chosen === undefined) return;
  const { found, hunk } = chosen;
  if (found.proposed !== undefined) return decideHunk(workbench, found.proposed, hunk.id, { type: "undo" });
  const file = workbench.unseen.of(found.path);
  if (file === undefined) return;
  const { files, changeSets, root: workspace } = workbench;
  await undoWritten({ files, changeSets, workspace }, file, [hunk.id], { signal: AbortSignal.timeout(callTimeoutMs) });
  await workbench.unseen.recheck(found.path);
};

/** Opens the new lines of a proposed hunk for editing: what is saved is what will be applied. */
export const editHunk: Command = async (workbench, args) => {
  const chosen = await chooseHunk(workbench, args);
  if (chosen === undefined) return;
  const { document, found, hunk } = chosen;
  if (found.proposed === undefined) {
    await vscode.window.showTextDocument(document);
    return;
  }
  const { proposal, change } = found.proposed;
  const proposed = change.hunks.find(({ id }) => id === hunk.id);
  if (proposed === undefined || hunk.id === "") {
    void showInformation(`The change of ${change.path} can only be kept or refused as a whole.`);
    return;
  }
  const decision = decisionFor(workbench.reviews.of(proposal), change.id, hunk.id);
  const session = await workbench.session();
  const whole = await proposedText(change, { session, signal: AbortSignal.timeout(callTimeoutMs) });
  const text = hunkText(whole, proposed.newRange);
  if (text === undefined) {
    void showInformation(
      `These lines of ${change.path} have line endings that the editor would change. Keep or refuse them, or ask for others.`,
    );
    return;
  }
  await workbench.review.edits.open(change.path, decision?.type === "edited" ? decision.text : text, (saved) =>
    decideHunk(workbench, { proposal, change, side: "base" }, hunk.id, { type: "edited", text: saved }),
  );
};

/** The editor's own diff of the file with the hunk. */
export const showHunkDiff: Command = async (workbench, args) => {
  const chosen = await chooseHunk(workbench, args);
  if (chosen === undefined) return;
  const { found, hunk } = chosen;
  if (found.proposed !== undefined) {
    const { proposal, change } = found.proposed;
    const start = change.hunks.find(({ id }) => id === hunk.id)?.newRange.start ?? 1;
    const session = await workbench.session();
    await showProposedChange(proposal, change.id, session, workbench.documents, Math.max(0, start - 1));
    return;
  }
  await showWritten(workbench, found.path, hunk.line);
};

function decideHunk(
  workbench: Workbench,
  { proposal, change }: ProposedText,
  hunkId: string,
  decision: HunkDecision,
): void {
  if (!workbench.sessions.facts.openProposals.has(proposal.proposalId)) {
    throw new Error("This proposal was decided about already. Ask for the change again.");
  }
  if (change.conflict && decision.type !== "undo") {
    throw new Error(`${change.path} can only be refused: ${change.warning || "it is not as the change expects it."}`);
  }
  decided(
    workbench,
    proposal,
    decideWhole(workbench.reviews.of(proposal), proposal.changes, change.id, [hunkId], decision),
  );
}

/** Keeps decisions about a proposal, and offers to apply it after the last. */
export function decided(workbench: Workbench, proposal: Proposal, state: ReviewState): void {
  const before = workbench.reviews.of(proposal);
  workbench.reviews.set(state);
  const { open, kept, edited, total } = countDecisions(state, proposal.changes);
  // Offered only after the last open decision, not when a decision is changed later.
  const wasOpen = countDecisions(before, proposal.changes).open > 0;
  if (open === 0 && wasOpen) void offerToApply(workbench, proposal, `${kept + edited} of ${total} kept`);
}

/** Opens the review, which shows what will be written and asks once more. */
async function offerToApply({ views }: Workbench, proposal: Proposal, words: string): Promise<void> {
  const files = proposal.changes.length === 1 ? proposal.changes[0]?.path : `${proposal.changes.length} files`;
  const choice = await showInformation(
    `Everything proposed for ${files} is decided: ${words}. Nothing is written yet.`,
    "Go to Apply",
  );
  if (choice === undefined) return;
  await views.reveal();
  views.ask({ type: "show-panel", panel: "review", proposalId: proposal.proposalId });
}

/** The hunk named by an action above it, else the one at the cursor; tells the user if there is none. */
async function chooseHunk({ review }: Workbench, args: readonly unknown[]): Promise<ChosenHunk | undefined> {
  const [uri, id] = args;
  const isNamed = typeof uri === "string" && typeof id === "string";
  const editor = vscode.window.activeTextEditor;
  const document = isNamed ? await vscode.workspace.openTextDocument(vscode.Uri.parse(uri)) : editor?.document;
  const found = document && review.hunksOf(document);
  const hunk = isNamed
    ? found?.hunks.find((each) => each.id === id)
    : hunkAt(found?.hunks ?? [], editor?.selection.active.line ?? 0);
  if (document !== undefined && found !== undefined && hunk !== undefined) return { document, found, hunk };
  void showInformation(
    isNamed
      ? "This change is no longer here."
      : "No change of the agent is at the cursor. “Go to Next Change” finds one.",
  );
  return undefined;
}
