import { sha256Hex } from "@gennai/protocol/digest";
import type * as vscode from "vscode";

const secretKey = "gennai.clientId";

/** The id by which servers know a folder that they cannot reach: always the same, and it tells nothing about the folder. */
export function heldFolderId(state: vscode.Memento, folder: vscode.Uri): string {
  let secret = state.get<string>(secretKey);
  if (secret === undefined) {
    secret = crypto.randomUUID();
    void state.update(secretKey, secret);
  }
  return sha256Hex(`${secret}\0${folder.toString()}`).slice(0, 40);
}
