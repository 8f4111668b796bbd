import { shortWriterWords, unknownWords, whenWords } from "@gennai/client/origin-words";
import type { TracedOrigin, TracedWrite } from "@gennai/protocol/model/governance/line-trace";
import * as vscode from "vscode";
import { showAppliedChange } from "../documents/applied-diff.ts";
import { reasonOf } from "../editor/editor-error.ts";
import { showInformation, showWarning } from "../editor/notifications.ts";
import { openRecord } from "./governance-commands.ts";
import type { Command, Workbench } from "./workbench.ts";

/** Opens the session at the call that wrote the line, with the question, the answer, and the changes. */
export const showOrigin: Command = async (workbench, [place]) => {
  const shown = lineIn(place) ?? lineOfCursor();
  if (shown === undefined) {
    void showInformation("Open a file and put the cursor into a line.");
    return;
  }
  await workbench.session();
  const found = await workbench.origins.of(shown.document, shown.line);
  if (found === undefined) {
    void showInformation(
      "Gennai cannot say who wrote this line: the file is too long, outside the folder, or the line is empty.",
    );
    return;
  }
  const { trust } = found.trace;
  if (trust.status !== "ok") void showWarning(`The ledger is not as it was signed (${trust.status}): ${trust.message}`);
  const write = await chosenWrite(found.run.origin);
  if (write !== undefined) await showWrite(workbench, write);
};

/** Shows or hides who wrote each line. */
export const toggleOrigins: Command = async ({ settings }) => {
  const configuration = vscode.workspace.getConfiguration("gennai.provenance");
  await configuration.update("annotations", !settings().lineOrigins, vscode.ConfigurationTarget.Global);
};

interface LineOfDocument {
  readonly document: vscode.TextDocument;
  /** 0-based. */
  readonly line: number;
}

function lineOfCursor(): LineOfDocument | undefined {
  const editor = vscode.window.activeTextEditor;
  return editor && { document: editor.document, line: editor.selection.active.line };
}

/** A line that a hover's link passes, in an open document; undefined for what a menu passes. */
function lineIn(place: unknown): LineOfDocument | undefined {
  if (typeof place !== "object" || place === null) return undefined;
  const line: unknown = Reflect.get(place, "line");
  const uri: unknown = Reflect.get(place, "uri");
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri);
  const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0;
  return document === undefined || !isLine ? undefined : { document, line };
}

/** undefined if it is unknown, which the user is told, or if the user chose none. */
async function chosenWrite(origin: TracedOrigin): Promise<TracedWrite | undefined> {
  if (origin.type === "recorded") return origin.write;
  if (origin.candidates.length === 0) {
    void showInformation(`Who wrote this line is not known: ${unknownWords[origin.reason]}.`);
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(
    origin.candidates.map((write) => ({
      label: `#${write.seq} ${shortWriterWords(write)}`,
      description: whenWords(write.time),
      detail: write.path,
      write,
    })),
    { title: "Who wrote this line is not known: one of these may have" },
  );
  return picked?.write;
}

async function showWrite(workbench: Workbench, write: TracedWrite): Promise<void> {
  const { sessionId, turnId, call, decision, path, beforeSha256, afterSha256 } = write;
  if (sessionId === "" || (call === undefined && decision.type !== "reviewed")) return showRecord(workbench, write.seq);
  const { sessions, views, documents, root } = workbench;
  try {
    const session = await sessions.follow(sessionId);
    await views.reveal();
    if (call !== undefined) views.ask({ type: "show-call", sessionId, turnId, callId: call.id });
    else {
      views.ask({ type: "show-session", sessionId });
      if (decision.type === "reviewed") {
        views.ask({ type: "show-panel", panel: "review", proposalId: decision.proposalId });
      }
    }
    await showAppliedChange({ path, beforeSha256, afterSha256 }, { source: session, documents, root }).catch(
      (error: unknown) => {
        void showInformation(`What it changed in ${path} cannot be shown: ${reasonOf(error)}`);
      },
    );
  } catch (error) {
    // The session was deleted, or belongs to another server; its record still exists.
    void showInformation(`The session of that call cannot be opened: ${reasonOf(error)} This is its record.`);
    await showRecord(workbench, write.seq);
  }
}

async function showRecord(workbench: Workbench, seq: number): Promise<void> {
  const { governance } = await workbench.connect();
  const { sessionId } = await workbench.session();
  const request = { sessionId, afterSeq: BigInt(seq - 1), limit: 1 };
  const { records } = await governance.listLedgerRecords(request, { signal: AbortSignal.timeout(15_000) });
  await openRecord(workbench, [records[0]]);
}
