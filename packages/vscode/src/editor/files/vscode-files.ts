import { realpathSync } from "node:fs";
import { access, constants, open, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import * as vscode from "vscode";
import { EditorError, reasonOf } from "../editor-error.ts";
import type { EditorDocument, EditorFiles, FileEdit } from "./editor-files.ts";
import { LiveDocument } from "./live-document.ts";
import { workspaceEdit } from "./workspace-edit.ts";

/** VS Code's documents, and the disk of the machine that its extensions run on. */
export class VsCodeFiles implements EditorFiles {
  openDocument(absolute: string): EditorDocument | undefined {
    refuseOtherEditors(absolute);
    const document = documentOf(absolute);
    return document === undefined ? undefined : new LiveDocument(document);
  }

  async loadDocument(absolute: string): Promise<EditorDocument> {
    try {
      return new LiveDocument(await vscode.workspace.openTextDocument(vscode.Uri.file(absolute)));
    } catch (error) {
      throw new EditorError("not_text", `The editor cannot open ${absolute} as text.`, reasonOf(error), {
        cause: error,
      });
    }
  }

  async readDisk(absolute: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined> {
    try {
      // Opening must not wait for the writer of a named pipe, who may never come.
      await using handle = await open(absolute, constants.O_RDONLY | constants.O_NONBLOCK);
      const { size, isFile } = await handle.stat().then((found) => ({ size: found.size, isFile: found.isFile() }));
      if (!isFile) throw notAFile(absolute);
      if (size > options.maxBytes) {
        throw new EditorError(
          "too_large",
          `${absolute} is larger than ${options.maxBytes} bytes.`,
          "Search it instead.",
        );
      }
      return await handle.readFile();
    } catch (error) {
      if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
      if (hasCode(error, "EISDIR")) throw notAFile(absolute);
      throw error;
    }
  }

  async isWritable(absolute: string): Promise<boolean> {
    const found = await stat(absolute).catch((error: unknown) => {
      if (hasCode(error, "ENOENT", "ENOTDIR")) return undefined;
      throw error;
    });
    if (found === undefined) {
      const parent = dirname(absolute);
      return parent === absolute ? false : this.isWritable(parent);
    }
    // A file without the owner's write bit should stay as it is, even for users whom permissions do not bind.
    if ((found.mode & 0o200) === 0) return false;
    return access(absolute, constants.W_OK).then(
      () => true,
      () => false,
    );
  }

  async encode(text: string, encoding: string): Promise<Uint8Array> {
    return vscode.workspace.encode(text, { encoding });
  }

  async decode(bytes: Uint8Array, encoding: string): Promise<string> {
    return vscode.workspace.decode(bytes, { encoding });
  }

  async applyEdits(edits: readonly FileEdit[], label: string): Promise<boolean> {
    return vscode.workspace.applyEdit(workspaceEdit(edits, label, documentOf));
  }

  async writeDisk(absolute: string, bytes: Uint8Array): Promise<void> {
    const saved = documentOf(absolute) === undefined ? undefined : await stat(absolute).catch(() => undefined);
    await vscode.workspace.fs.writeFile(vscode.Uri.file(absolute), bytes);
    // If a file is newer than its document, the editor assumes a change by others, and refuses to save.
    if (saved !== undefined) await utimes(absolute, saved.atime, saved.mtime);
    await settled(absolute);
  }

  async deleteFromDisk(absolute: string): Promise<void> {
    await rm(absolute, { force: true });
  }
}

/** The document of a file, also if it was opened through a link. */
function documentOf(absolute: string): vscode.TextDocument | undefined {
  const documents = vscode.workspace.textDocuments.filter(({ uri, isClosed }) => uri.scheme === "file" && !isClosed);
  return (
    documents.find(({ uri }) => uri.fsPath === absolute) ??
    documents.find(({ uri }) => realPathOf(uri.fsPath) === absolute)
  );
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Notebooks and custom editors may have changes that no text document shows. */
function refuseOtherEditors(absolute: string): void {
  for (const tab of vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs)) {
    const { input } = tab;
    const isOther = input instanceof vscode.TabInputNotebook || input instanceof vscode.TabInputCustom;
    if (!isOther || !tab.isDirty || input.uri.scheme !== "file") continue;
    if (input.uri.fsPath !== absolute && realPathOf(input.uri.fsPath) !== absolute) continue;
    throw new EditorError(
      "not_text",
      `${tab.label} has unsaved changes in an editor that shows no text.`,
      "Save it first; then the file on disk can be read.",
    );
  }
}

/** Waits until an open document without changes has followed the disk. */
async function settled(absolute: string): Promise<void> {
  const document = documentOf(absolute);
  for (let waited = 0; document?.isDirty === true && waited < 2000; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function notAFile(absolute: string): EditorError {
  return new EditorError("not_a_file", `${absolute} is not a file.`, "Name a file.");
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
