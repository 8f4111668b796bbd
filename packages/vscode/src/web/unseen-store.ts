import { sha256Hex } from "@gennai/protocol/digest";
import * as vscode from "vscode";

/**
 * A file in the workspace's storage, for one of its folders, because paths are relative to that.
 * @param storage undefined without a folder: then nothing is stored
 * @param root the session's folder, absolute
 */
export function unseenStore(
  storage: vscode.Uri | undefined,
  root: string,
): {
  readonly load: () => Promise<string | undefined>;
  readonly save: (json: string) => Promise<void>;
} {
  if (storage === undefined) return { load: async () => undefined, save: async () => undefined };
  const file = vscode.Uri.joinPath(storage, `unseen-changes-${sha256Hex(root).slice(0, 16)}.json`);
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
