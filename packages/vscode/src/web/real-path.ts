import * as vscode from "vscode";
import { uriOf } from "../editor/workspace-uri.ts";

/**
 * The same path, if no part of it below the workspace is a link: a window without a disk cannot know where a link leads. Rejects
 * with an error of code `ENOENT` if nothing is there, and of code `ELOOP` for a link.
 */
export async function realPathOf(path: string): Promise<string> {
  const root = vscode.workspace.workspaceFolders?.[0]?.uri.path ?? "/";
  const below = path.startsWith(`${root}/`) ? path.slice(root.length + 1).split("/") : [];
  for (const [index] of below.entries()) {
    const part = [root, ...below.slice(0, index + 1)].join("/");
    const type = await typeOf(part);
    if (type === undefined) throw systemError("ENOENT", `There is no ${path}.`);
    if ((type & vscode.FileType.SymbolicLink) !== 0) throw systemError("ELOOP", `${part} is a link.`);
  }
  if (below.length === 0 && (await typeOf(path)) === undefined) throw systemError("ENOENT", `There is no ${path}.`);
  return path;
}

export async function isLink(path: string): Promise<boolean> {
  return (((await typeOf(path)) ?? 0) & vscode.FileType.SymbolicLink) !== 0;
}

async function typeOf(path: string): Promise<vscode.FileType | undefined> {
  try {
    return (await vscode.workspace.fs.stat(uriOf(path))).type;
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
    throw error;
  }
}

function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
