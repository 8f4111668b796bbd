import * as vscode from "vscode";
import type { UnseenChangesOptions } from "../review/unseen-changes.ts";

/** A file in the workspace's storage, by the editor's file system: a browser has no other. */
export function unseenStore(storage: vscode.Uri, name: string): Pick<UnseenChangesOptions, "load" | "save"> {
  const file = vscode.Uri.joinPath(storage, name);
  return {
    async load() {
      try {
        return new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
      } catch (error) {
        if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
        throw error;
      }
    },
    async save(json) {
      await vscode.workspace.fs.createDirectory(storage);
      await vscode.workspace.fs.writeFile(file, new TextEncoder().encode(json));
    },
  };
}
