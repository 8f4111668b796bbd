import * as vscode from "vscode";
import { nameInWorkspace } from "./workspace-paths.ts";

/**
 * A file of the workspace by its path. In a window without a disk the workspace has another scheme, and a path means
 * something only there.
 */
export function uriOf(absolute: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined || folder.scheme === "file") return vscode.Uri.file(absolute);
  return folder.with({ path: absolute });
}

/** Path of a file where the workspace is; undefined for one that is elsewhere. */
export function pathOf(uri: vscode.Uri): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const scheme = folder?.scheme ?? "file";
  if (uri.scheme !== scheme || (scheme !== "file" && uri.authority !== folder?.authority)) return undefined;
  return scheme === "file" ? uri.fsPath : uri.path;
}

/** Its path relative to the workspace, with forward slashes; undefined when it lies outside. @param root absolute */
export function nameOfUri(root: string, uri: vscode.Uri): string | undefined {
  const path = pathOf(uri);
  return path === undefined ? undefined : nameInWorkspace(root, path);
}
