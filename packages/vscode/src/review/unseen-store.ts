import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "@gennai/protocol/digest";
import type * as vscode from "vscode";

/**
 * A file in the workspace's storage, for one of its folders, because paths are relative to that. Node writes it: the editor's file system
 * is reached through the window, and one that is being reloaded answers no more.
 * @param storage undefined without a folder: then nothing is stored
 * @param root the session's folder, absolute
 */
export function unseenStore(
  storage: vscode.Uri | undefined,
  root: string,
): {
  readonly load: () => Promise<string | undefined>;
  /** Whole or not at all: another window may read it at the same time. */
  readonly save: (json: string) => Promise<void>;
} {
  if (storage === undefined) return { load: async () => undefined, save: async () => undefined };
  const file = join(storage.fsPath, `unseen-changes-${sha256Hex(root).slice(0, 16)}.json`);
  return {
    async load() {
      try {
        return await readFile(file, "utf8");
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
        throw error;
      }
    },
    async save(json) {
      await mkdir(storage.fsPath, { recursive: true });
      const draft = `${file}.${process.pid}.new`;
      await writeFile(draft, json, { mode: 0o600 });
      await rename(draft, file);
    },
  };
}
