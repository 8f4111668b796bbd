import { canMention, writtenMention } from "@gennai/client/session/text/mentions";
import * as vscode from "vscode";
import { terminalSelection } from "../documents/terminal-selection.ts";
import { testFailureText } from "../documents/test-failure.ts";
import { showInformation } from "../editor/notifications.ts";
import { nameOfUri } from "../editor/workspace-uri.ts";
import type { Command, Workbench } from "./workbench.ts";

/** Adds a mention of the selected lines; the server reads them when the prompt is sent, unsaved changes included. */
export const addSelection: Command = async (workbench) => {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined || editor.selection.isEmpty) return addFile(workbench, []);
  const { start, end } = editor.selection;
  // A selection that ends before the first character of a line contains nothing of that line.
  const last = end.character === 0 && end.line > start.line ? end.line : end.line + 1;
  await mention(workbench, [editor.document.uri], { startLine: start.line + 1, endLine: last });
};

/** Adds mentions of the files and folders that a menu passes, else of the active file. */
export const addFile: Command = async (workbench, [one, several]) => {
  const chosen = Array.isArray(several) && several.length > 0 ? several : [one];
  const uris = chosen.filter((each) => each instanceof vscode.Uri);
  const active = vscode.window.activeTextEditor?.document.uri;
  await mention(workbench, uris.length > 0 || active === undefined ? uris : [active]);
};

/** Attaches the text that is selected in a terminal. */
export const addTerminalSelection: Command = async ({ views }) => {
  const { activeTerminal } = vscode.window;
  const text = activeTerminal === undefined ? "" : await terminalSelection();
  if (text.trim() === "") {
    void showInformation("Nothing is selected in the terminal.");
    return;
  }
  await views.reveal();
  views.ask({ type: "attach", title: `Selected in the terminal ${activeTerminal?.name ?? ""}`, text });
};

/** Adds mentions of what git says has changed in the chosen files. */
export const addChange: Command = async (workbench, args) => {
  const uris = args
    .flat()
    .map((state): unknown =>
      typeof state === "object" && state !== null ? Reflect.get(state, "resourceUri") : undefined,
    )
    .filter((each) => each instanceof vscode.Uri);
  await mention(workbench, uris, "diff");
};

/** Attaches the message of a failed test. */
export const addTestFailure: Command = async ({ views, root }, [shown]) => {
  const failure = testFailureText(shown, (uri) => nameOfUri(root, uri));
  if (failure === undefined) return;
  await views.reveal();
  views.ask({ type: "attach", ...failure });
};

async function mention(
  { root, views }: Workbench,
  uris: readonly vscode.Uri[],
  part?: { readonly startLine: number; readonly endLine: number } | "diff",
): Promise<void> {
  const names = uris.map((uri) => nameOfUri(root, uri)).filter((name) => name !== undefined && canMention(name));
  if (names.length < uris.length || names.length === 0) {
    void showInformation("Only files of the folder that Gennai works in can be added.");
  }
  if (names.length === 0) return;
  const written = names.map((name) =>
    part === "diff" ? writtenMention(`diff:${name}`) : writtenMention(name ?? "", part),
  );
  await views.reveal();
  views.ask({ type: "mention", mentions: written.slice(0, 100) });
}
