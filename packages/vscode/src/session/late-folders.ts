import * as vscode from "vscode";

/** Milliseconds to wait for the folders of a workspace that may have none. */
const limit = 5_000;

/**
 * Resolves when the folders of the window's workspace are known. The extensions of a window on another machine may start before the editor has
 * read the file of a workspace with several folders.
 */
export async function foldersKnown(): Promise<void> {
  if (vscode.workspace.workspaceFile === undefined || hasFolder()) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      listener.dispose();
      resolve();
    };
    const timer = setTimeout(done, limit);
    const listener = vscode.workspace.onDidChangeWorkspaceFolders(() => hasFolder() && done());
  });
}

/** For what was made without a folder: extensions start again as soon as there is one. */
export function restartWithFolder(): vscode.Disposable {
  return vscode.workspace.onDidChangeWorkspaceFolders(() => {
    if (hasFolder()) void vscode.commands.executeCommand("workbench.action.restartExtensionHost");
  });
}

function hasFolder(): boolean {
  return (vscode.workspace.workspaceFolders?.length ?? 0) > 0;
}
