import * as vscode from "vscode";
import { EditorError } from "../editor-error.ts";
import { uriOf } from "../workspace-uri.ts";
import type { FileEdit } from "./editor-files.ts";

type DocumentOf = (absolute: string) => vscode.TextDocument | undefined;

/** Edits of files as one step, which one Undo takes back. Throws `EditorError` for a document that was closed meanwhile. */
export function workspaceEdit(edits: readonly FileEdit[], label: string, documentOf: DocumentOf): vscode.WorkspaceEdit {
  const edit = new vscode.WorkspaceEdit();
  for (const file of edits) addEdit(edit, file, label, documentOf);
  return edit;
}

function addEdit(edit: vscode.WorkspaceEdit, file: FileEdit, label: string, documentOf: DocumentOf): void {
  const uri = uriOf(file.absolute);
  const metadata = { label, needsConfirmation: false };
  switch (file.type) {
    case "create":
      edit.createFile(uri, { contents: file.bytes }, metadata);
      return;
    case "delete":
      edit.deleteFile(uri, {}, metadata);
      return;
    case "text": {
      const document = documentOf(file.absolute);
      if (document === undefined) throw new EditorError("busy", `${file.absolute} was closed.`, "Try again.");
      const edits = file.edits.map(({ start, end, text }) =>
        vscode.TextEdit.replace(new vscode.Range(document.positionAt(start), document.positionAt(end)), text),
      );
      if (file.eol !== undefined) {
        edits.push(vscode.TextEdit.setEndOfLine(file.eol === "crlf" ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF));
      }
      edit.set(document.uri, edits);
    }
  }
}
