import type { AgentSession } from "@gennai/client/session/agent-session";
import { sha256Hex } from "@gennai/protocol/digest";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/proposal";
import * as vscode from "vscode";
import type { ContentDocuments } from "./content-documents.ts";

/**
 * Shows a proposed change in the editor's own diff. Both sides are the bytes the proposal names by digest, not what happens
 * to be on disk. Throws when they cannot be had.
 */
export async function showProposedChange(
  proposal: Proposal,
  changeId: string,
  session: AgentSession,
  documents: ContentDocuments,
): Promise<void> {
  const change = proposal.changes.find(({ id }) => id === changeId);
  if (change === undefined) throw new Error("The proposal has no such change.");
  const { path } = change;
  const [before, after] = await Promise.all([baseText(change, session), newText(change, session)]);
  await vscode.commands.executeCommand(
    "vscode.diff",
    documents.add(path, before),
    documents.add(path, after),
    `${path} (proposed ${change.operation})`,
    { preview: true },
  );
}

/** All changes of a proposal in one multi-file diff. */
export async function showProposal(
  proposal: Proposal,
  session: AgentSession,
  documents: ContentDocuments,
): Promise<void> {
  const resources = await Promise.all(
    proposal.changes.map(async (change) => {
      const [before, after] = await Promise.all([baseText(change, session), newText(change, session)]);
      const shown = documents.add(change.path, after);
      return [shown, documents.add(change.path, before), shown];
    }),
  );
  await vscode.commands.executeCommand("vscode.changes", "Proposed changes", resources);
}

async function baseText({ baseSha256 }: ProposedChange, session: AgentSession): Promise<string> {
  return baseSha256 === "" ? "" : decoded(await checkedBlob(baseSha256, session));
}

async function newText(change: ProposedChange, session: AgentSession): Promise<string> {
  if (change.operation === "delete") return "";
  return change.newContentBlob === undefined
    ? change.newContent
    : decoded(await checkedBlob(change.newContentBlob.sha256, session));
}

async function checkedBlob(sha256: string, session: AgentSession): Promise<Uint8Array> {
  const bytes = await session.blob(sha256, { signal: AbortSignal.timeout(10_000) });
  if (sha256Hex(bytes) !== sha256)
    throw new Error("The server sent other bytes than the proposal names. Nothing is shown.");
  return bytes;
}

function decoded(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
