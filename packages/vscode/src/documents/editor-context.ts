import type { EditorContext } from "@gennai/client/host/editor-context";
import * as vscode from "vscode";
import { nameOfUri } from "../editor/workspace-uri.ts";

const selectionLimit = 100_000;
const openFilesLimit = 100;

/** What the user looks at, unsaved changes included. Files outside of the workspace are not named. */
export function editorContext(root: string): EditorContext {
  // In an editor tab, the REPL itself is the active one.
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  const activeFile = editor === undefined ? undefined : workspaceName(root, editor.document.uri);
  return {
    activeFile,
    selection:
      editor === undefined || activeFile === undefined || editor.selection.isEmpty
        ? undefined
        : {
            startLine: editor.selection.start.line + 1,
            endLine: editor.selection.end.line + 1,
            text: editor.document.getText(editor.selection).slice(0, selectionLimit),
          },
    openFiles: openFiles(root),
  };
}

function openFiles(root: string): readonly string[] {
  const names = vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .flatMap(({ input }) => (input instanceof vscode.TabInputText ? [workspaceName(root, input.uri)] : []))
    .filter((name) => name !== undefined);
  return [...new Set(names)].slice(0, openFilesLimit);
}

function workspaceName(root: string, uri: vscode.Uri): string | undefined {
  return nameOfUri(root, uri);
}
