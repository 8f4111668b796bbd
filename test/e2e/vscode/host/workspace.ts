import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import * as vscode from "vscode";

/** Absolute path of the window's folder. */
export function workspaceRoot(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, "a folder is open");
  return folder.uri.fsPath;
}

/** Writes past the editor. */
export async function writeOnDisk(path: string, content: string | Uint8Array): Promise<void> {
  const absolute = join(workspaceRoot(), path);
  await mkdir(dirname(absolute), { recursive: true });
  await writeFile(absolute, content);
}

/** undefined: there is no such file. */
export function textOnDisk(path: string): string | undefined {
  const absolute = join(workspaceRoot(), path);
  return existsSync(absolute) ? readFileSync(absolute, "utf8") : undefined;
}

export async function showFile(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(vscode.Uri.file(join(workspaceRoot(), path)), { preview: false });
}

/** Resolves once it holds; a file watcher or the editor may be a moment behind. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 10_000; waited += 50) {
    if (await holds()) return;
    await wait(50);
  }
  assert.fail(`${what} did not come true`);
}
