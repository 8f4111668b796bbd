import { join } from "node:path";
import * as vscode from "vscode";
import { nameInWorkspace, resolveInWorkspace } from "./workspace-paths.ts";

/**
 * The URI of a file by its absolute path. In a window without a disk, the workspace has another scheme, and paths are only valid
 * there.
 */
export function uriOf(absolute: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined || folder.scheme === "file") return vscode.Uri.file(absolute);
  return folder.with({ path: absolute });
}

/**
 * The URI of a workspace file to open, by the name that a server or the REPL gave. The check resolves links, but the URI is below
 * the folder as it was opened, so that it is the document that the user has, even if the folder is a link. Throws as
 * `resolveInWorkspace` does.
 * @param root absolute
 */
export async function uriInWorkspace(root: string, name: string): Promise<vscode.Uri> {
  await resolveInWorkspace(root, name);
  return uriOf(join(root, name));
}

/** Path of a file in the workspace's file system; undefined for a file elsewhere. */
export function pathOf(uri: vscode.Uri): string | undefined {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const scheme = folder?.scheme ?? "file";
  if (uri.scheme !== scheme || (scheme !== "file" && uri.authority !== folder?.authority)) return undefined;
  return scheme === "file" ? uri.fsPath : uri.path;
}

/** Its path relative to the workspace, with forward slashes; undefined if it is outside. @param root absolute */
export function nameOfUri(root: string, uri: vscode.Uri): string | undefined {
  const path = pathOf(uri);
  return path === undefined ? undefined : nameInWorkspace(root, path);
}
