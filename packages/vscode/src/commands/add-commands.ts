import { canMention, writtenMention } from "@gennai/client/session/text/mentions";
import * as vscode from "vscode";
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

/**
 * The selected text in the active terminal; empty: nothing. The editor only passes it on by the clipboard, whose text is restored
 * afterwards.
 */
export async function terminalSelection(): Promise<string> {
  const before = await vscode.env.clipboard.readText();
  // If the selection cannot be copied, the clipboard's old text must not be taken for it.
  await vscode.env.clipboard.writeText("");
  try {
    await vscode.commands.executeCommand("workbench.action.terminal.copySelection");
    return await vscode.env.clipboard.readText();
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}

/**
 * The message of a failed test, as the menu of a test's message passes it (`{ test, message }`); undefined for anything else.
 * @param nameOf workspace path of a file; undefined if it is outside
 */
export function testFailureText(
  shown: unknown,
  nameOf: (uri: vscode.Uri) => string | undefined,
): { readonly title: string; readonly text: string } | undefined {
  const message = field(shown, "message");
  const words = textOf(field(message, "message"));
  if (words === undefined) return undefined;
  const test = field(shown, "test");
  const label = textOf(field(test, "label")) ?? "";
  const [expected, actual] = [textOf(field(message, "expectedOutput")), textOf(field(message, "actualOutput"))];
  const place = placeOf(field(message, "location"), nameOf);
  const parts = [
    place === undefined ? undefined : `At ${place}`,
    words,
    expected === undefined ? undefined : `Expected:\n${expected}`,
    actual === undefined ? undefined : `Actual:\n${actual}`,
  ];
  return { title: `Failed test ${label}`.trim(), text: parts.filter((part) => part !== undefined).join("\n\n") };
}

function placeOf(location: unknown, nameOf: (uri: vscode.Uri) => string | undefined): string | undefined {
  const [uri, range] = [field(location, "uri"), field(location, "range")];
  const name = uri instanceof vscode.Uri ? nameOf(uri) : undefined;
  if (name === undefined) return undefined;
  return range instanceof vscode.Range ? `${name}:${range.start.line + 1}` : name;
}

/** The text of a string or of a Markdown value. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const text = field(value, "value");
  return typeof text === "string" ? text : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
