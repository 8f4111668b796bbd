import { fencedText } from "@gennai/client/session/text/fenced-text";
import { canMention, writtenMention } from "@gennai/client/session/text/mentions";
import { turnOutcome } from "@gennai/client/session/turn-state";
import { watchedTurn } from "@gennai/client/session/watched-turn";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import * as vscode from "vscode";
import type { Workbench } from "../commands/workbench.ts";
import { reasonOf } from "../editor/editor-error.ts";
import { nameOfUri } from "../editor/workspace-uri.ts";

/**
 * Runs a prompt of VS Code's own chat as a turn of this window's session: with the same server and the same gate, and also shown
 * in the REPL. Never rejects: an error becomes the answer.
 */
export async function answerInChat(
  workbench: Pick<Workbench, "session" | "settings" | "root">,
  request: Pick<vscode.ChatRequest, "prompt" | "references">,
  stream: Pick<vscode.ChatResponseStream, "markdown" | "progress" | "button">,
  token: vscode.CancellationToken,
): Promise<vscode.ChatResult> {
  const stop = new AbortController();
  const listener = token.onCancellationRequested(() => stop.abort());
  if (token.isCancellationRequested) stop.abort();
  try {
    const text = promptOf(request, workbench.root);
    if (text === "") {
      stream.markdown("Write a prompt: what should Gennai do?");
      return {};
    }
    stream.progress("Gennai");
    const session = await workbench.session();
    const { scenario } = workbench.settings();
    let failure = "";
    const turn = { text, scenario, enableThinking: true };
    for await (const event of watchedTurn(session, turn, { as: "chat", signal: stop.signal, onAbort: "cancel" })) {
      show(event, stream);
      if (event.event.case === "error") failure = event.event.value;
      if (turnOutcome(event) === "error") return { errorDetails: { message: failure || "The turn failed." } };
    }
    return { metadata: { sessionId: session.sessionId } };
  } catch (error) {
    return stop.signal.aborted ? {} : { errorDetails: { message: reasonOf(error) } };
  } finally {
    listener.dispose();
  }
}

/** The text for the model: the prompt, and what was attached to it as mentions, which the server reads according to the rules. */
function promptOf({ prompt, references }: Pick<vscode.ChatRequest, "prompt" | "references">, root: string): string {
  const parts = references.flatMap(({ value }) => {
    if (typeof value === "string") return [fencedText(value)];
    const [uri, range] =
      value instanceof vscode.Location
        ? [value.uri, value.range]
        : value instanceof vscode.Uri
          ? [value, undefined]
          : [undefined, undefined];
    const name = uri === undefined ? undefined : nameOfUri(root, uri);
    if (name === undefined || !canMention(name)) return [];
    const lines = range === undefined ? undefined : { startLine: range.start.line + 1, endLine: range.end.line + 1 };
    return [writtenMention(name, lines)];
  });
  return [prompt.trim(), ...parts].filter((part) => part !== "").join("\n\n");
}

function show(
  { event, parentToolCallId }: InvokeEvent,
  stream: Pick<vscode.ChatResponseStream, "markdown" | "progress" | "button">,
): void {
  // The text of sub-agents is shown only in the REPL.
  if (parentToolCallId !== "") return;
  switch (event.case) {
    case "assistantDelta":
      stream.markdown(event.value.text);
      return;
    case "toolCall":
      stream.progress(event.value.name);
      return;
    case "confirmationRequest":
      stream.markdown(`\n\n${event.value.title}\n\n`);
      stream.button({ title: "Answer in Gennai", command: "gennai.openRepl" });
      return;
    case "userQuestionRequest":
      for (const { question } of event.value.questions) stream.markdown(`\n\n${question}\n\n`);
      stream.button({ title: "Answer in Gennai", command: "gennai.openRepl" });
      return;
    case "proposedChanges":
      stream.button({ title: "Review in Gennai", command: "gennai.applyProposedChanges" });
      return;
    default:
  }
}
