import { reviewToApply } from "@gennai/client/host/review-state";
import type { SessionView } from "@gennai/client/view/session-view";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import * as vscode from "vscode";
import { showProposal } from "../documents/proposal-diff.ts";
import { showInformation } from "../editor/notifications.ts";
import { revert } from "./revert.ts";
import type { Command } from "./workbench.ts";

const callTimeoutMs = 30_000;

export const startSession: Command = async ({ connect, sessions, views }) => {
  await connect();
  const session = await sessions.startNew();
  views.notify({ type: "show-session", sessionId: session.sessionId });
  await views.reveal();
};

export const stopSession: Command = async ({ sessions }) => {
  const { session } = sessions;
  if (session === undefined) {
    void showInformation("No session is open, so nothing runs.");
    return;
  }
  const stopped = await session.stop("session", "stopped by the user", { signal: AbortSignal.timeout(callTimeoutMs) });
  void vscode.window.setStatusBarMessage(
    stopped.length === 0 ? "Gennai: nothing was running" : "Gennai: stopped",
    5000,
  );
};

/** Runs one prompt from the palette as one turn; the answer is a notification, and is also in the REPL. */
export const invoke: Command = async (workbench) => {
  const text = await askForPrompt("What should the agent do?");
  if (text === undefined) return;
  const session = await workbench.session();
  const { scenario } = workbench.settings();
  await session.startTurn({ text, scenario, enableThinking: true }, { signal: AbortSignal.timeout(callTimeoutMs) });
  workbench.views.notify({ type: "show-session", sessionId: session.sessionId });
};

/** Sends a prompt in the REPL, where the conversation goes on. */
export const invokeInteractive: Command = async (workbench) => {
  const text = await askForPrompt("What should the agent do? You continue in the REPL.");
  if (text === undefined) return;
  await workbench.session();
  await workbench.views.reveal();
  workbench.views.ask({ type: "prompt", text, send: true });
};

/** Shows a session in the REPL, where its question, if one waits, gets the focus. */
export const openSession: Command = async ({ sessions, views }, [session]) => {
  const sessionId: unknown = typeof session === "object" && session !== null && Reflect.get(session, "sessionId");
  if (typeof sessionId !== "string") return;
  await sessions.follow(sessionId);
  views.notify({ type: "show-session", sessionId });
  await views.reveal();
};

/** Where a question waits, the card gets the focus. */
export const openRepl: Command = async ({ views }) => views.reveal();

export const openReplPanel: Command = async ({ views }) => views.openPanel();

export const chooseModel: Command = async ({ views }) => {
  await views.reveal();
  views.ask({ type: "choose-model" });
};

/** Opens the review: nothing is applied before the user has seen it. */
export const applyProposedChanges: Command = async (workbench) => {
  const session = await workbench.session();
  const proposal = await pickProposal(workbench.sessions.facts.openProposals);
  if (proposal === undefined) return;
  await workbench.views.reveal();
  workbench.views.ask({ type: "show-panel", panel: "review", proposalId: proposal.proposalId });
  const choice = await showInformation(
    `A proposal of ${proposal.changes.length} ${proposal.changes.length === 1 ? "file" : "files"} waits for your review.`,
    "Show Diff",
    "Apply All",
  );
  if (choice === "Show Diff") await showProposal(proposal, session, workbench.documents);
  if (choice !== "Apply All") return;
  if (!workbench.sessions.facts.openProposals.has(proposal.proposalId)) {
    throw new Error("This proposal was decided about already. Ask for the change again.");
  }
  // With the decisions so far: earlier refusals and edits, in the panel or the editor, are kept.
  const review = reviewToApply(workbench.reviews.of(proposal), proposal, session.sessionId, "keep");
  const signal = AbortSignal.timeout(callTimeoutMs);
  const { files } = await workbench.applier.apply(proposal, review, { session, signal });
  void showInformation(
    files.length === 0
      ? "Everything of this proposal was refused: nothing is written."
      : `Applied ${files.length} ${files.length === 1 ? "file" : "files"}. One Undo reverts it.`,
  );
};

export const undo: Command = async (workbench) => {
  const session = await workbench.session();
  await revert(workbench, session, workbench.sessions.view.changeSets.at(-1)?.changeSetId);
};

export const revertChangeSet: Command = async (workbench) => {
  const session = await workbench.session();
  const changeSetId = await pickChangeSet(workbench.sessions.view.changeSets);
  if (changeSetId !== undefined) await revert(workbench, session, changeSetId);
};

async function askForPrompt(prompt: string): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({ title: "Gennai", prompt, ignoreFocusOut: true });
  return text === undefined || text.trim() === "" ? undefined : text;
}

/** The newest proposal, or the one the user chooses among several. */
async function pickProposal(open: ReadonlyMap<string, Proposal>): Promise<Proposal | undefined> {
  const proposals = [...open.values()].reverse();
  if (proposals.length === 0) {
    void showInformation("No proposal waits for review. Proposal Mode is chosen in gennai.editingMode.");
    return undefined;
  }
  if (proposals.length === 1) return proposals[0];
  const items = proposals.map((proposal) => ({
    label: proposal.changes.map(({ path }) => path).join(", "),
    description: proposal.hasConflicts ? "has conflicts" : "",
    proposal,
  }));
  return (await vscode.window.showQuickPick(items, { title: "Which proposal?" }))?.proposal;
}

/** The id of a change set that can be taken back. */
async function pickChangeSet(changeSets: SessionView["changeSets"]): Promise<string | undefined> {
  if (changeSets.length === 0) {
    void showInformation("This session has nothing to undo.");
    return undefined;
  }
  const items = changeSets.toReversed().map(({ changeSetId, time, files }) => ({
    label: files.map(({ path }) => path).join(", "),
    description: time?.toLocaleTimeString() ?? "",
    changeSetId,
  }));
  return (await vscode.window.showQuickPick(items, { title: "Undo which change set?" }))?.changeSetId;
}
