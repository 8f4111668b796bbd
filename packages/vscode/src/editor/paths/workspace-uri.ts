import { join } from "node:path";
import * as vscode from "vscode";
import { nameInWorkspace, resolveInWorkspace } from "./workspace-paths.ts";

/**
 * A file of the workspace by its path. In a window without a disk the workspace has another scheme, and a path means
 * something only there.
 */
export function uriOf(absolute: string): vscode.Uri {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined || folder.scheme === "file") return vscode.Uri.file(absolute);
  return folder.with({ path: absolute });
}

/**
 * A file of the workspace to be opened, by the name that a server or the REPL gave it. It is checked with links followed, but
 * named below the folder as that is open: so it is the document that its user has, also where the folder is a link. Throws as
 * `resolveInWorkspace` does.
 * @param root absolute
 */
export async function uriInWorkspace(root: string, name: string): Promise<vscode.Uri> {
  await resolveInWorkspace(root, name);
  return uriOf(join(root, name));
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
