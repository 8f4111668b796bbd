import * as vscode from "vscode";
import { showInformation } from "../editor/notifications.ts";
import { pathOf } from "../editor/workspace-uri.ts";

const key = "gennai.folder";

/** The folder that this window's sessions work on: the one that was chosen, else the first. undefined: none is open. */
export function chosenFolder(state: vscode.Memento): vscode.WorkspaceFolder | undefined {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const chosen = state.get<string>(key);
  return folders.find(({ uri }) => uri.toString() === chosen) ?? folders[0];
}

/** Number of folders to choose from. */
export function folderCount(): number {
  return vscode.workspace.workspaceFolders?.length ?? 0;
}

/**
 * Lets the user choose the folder. Everything in a window belongs to its folder, so the extensions restart; the earlier folder's
 * session stays on the server.
 */
export async function chooseFolder(state: vscode.Memento): Promise<void> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length < 2) {
    void showInformation("This window has one folder at most: there is nothing to choose.");
    return;
  }
  const now = chosenFolder(state);
  const items = folders.map((folder) => ({
    folder,
    label: folder.name,
    description: pathOf(folder.uri) ?? folder.uri.toString(),
    ...(folder.index === now?.index ? { detail: "Gennai works here now" } : {}),
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: "Choose Folder: where should Gennai work?",
    placeHolder: "The extensions of this window are started again; your files and terminals stay as they are",
  });
  if (picked === undefined || picked.folder.index === now?.index) return;
  await state.update(key, picked.folder.uri.toString());
  await state.update("gennai.sessionId", undefined);
  await vscode.commands.executeCommand("workbench.action.restartExtensionHost");
}
