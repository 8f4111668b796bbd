import type * as vscode from "vscode";
import { thisMachine } from "../server/this-machine.ts";
import { ClientFolder } from "./client-folder.ts";
import { heldFolderId } from "./client-folder-id.ts";
import { VsCodeFolderFiles } from "./folder-files.ts";
import { isHeldByWindow } from "./held-by-window.ts";

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
