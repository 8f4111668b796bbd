import { sha256Hex } from "@gennai/protocol/digest";
import type * as vscode from "vscode";
import { thisMachine } from "../server/this-machine.ts";
import { ClientFolder } from "./client-folder.ts";
import { VsCodeFolderFiles } from "./folder-files.ts";

export interface WindowFolderOptions {
  readonly folder: vscode.WorkspaceFolder | undefined;
  readonly state: vscode.Memento;
  /** The present value of `gennai.baseUrl`. */
  readonly baseUrl: () => string;
}

/** The folder of this window, held for a server that cannot reach it; undefined while the server has the files itself. */
export function windowFolder({ folder, state, baseUrl }: WindowFolderOptions): () => ClientFolder | undefined {
  if (folder === undefined) return () => undefined;
  const held = new ClientFolder(new VsCodeFolderFiles(folder.uri), {
    id: heldFolderId(state, folder.uri),
    name: folder.name,
    root: folder.uri.path,
    home: thisMachine.home,
    platform: thisMachine.platform,
    // Commands for the terminal are requested separately.
    commands: "none",
  });
  return () => (isHeldByWindow({ baseUrl: baseUrl(), hasDisk: thisMachine.hasDisk }) ? held : undefined);
}

const secretKey = "gennai.clientId";

/** The id by which servers know a folder that they cannot reach: always the same, and it tells nothing about the folder. */
function heldFolderId(state: vscode.Memento, folder: vscode.Uri): string {
  let secret = state.get<string>(secretKey);
  if (secret === undefined) {
    secret = crypto.randomUUID();
    void state.update(secretKey, secret);
  }
  return sha256Hex(`${secret}\0${folder.toString()}`).slice(0, 40);
}

/**
 * True if this window holds the files: there is no disk that a server could share, or the server is on another machine.
 * @param baseUrl `gennai.baseUrl`; empty: a server of this machine
 */
function isHeldByWindow({ baseUrl, hasDisk }: { readonly baseUrl: string; readonly hasDisk: boolean }): boolean {
  if (!hasDisk) return true;
  if (!URL.canParse(baseUrl)) return false;
  return !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
}
