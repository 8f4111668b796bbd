import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type * as vscode from "vscode";
import type { UnseenChangesOptions } from "./unseen-changes.ts";

/**
 * A file in the workspace's storage, written whole or not at all: another window may read it at the same time. Node writes it, because the
 * editor's file system is reached through the window, and one that is being reloaded answers no more.
 */
export function unseenStore(storage: vscode.Uri, name: string): Pick<UnseenChangesOptions, "load" | "save"> {
  const file = join(storage.fsPath, name);
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
