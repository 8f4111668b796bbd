import { sha256Hex } from "@gennai/protocol/digest";
import type * as vscode from "vscode";

const secretKey = "gennai.clientId";

/** The id under which servers know a folder that they cannot reach: the same every time, and telling nothing of it. */
export function heldFolderId(state: vscode.Memento, folder: vscode.Uri): string {
  let secret = state.get<string>(secretKey);
  if (secret === undefined) {
    secret = crypto.randomUUID();
    void state.update(secretKey, secret);
  }
  return sha256Hex(`${secret}\0${folder.toString()}`).slice(0, 40);
}
