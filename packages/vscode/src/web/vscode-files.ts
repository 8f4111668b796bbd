import * as vscode from "vscode";
import { EditorError, reasonOf } from "../editor/editor-error.ts";
import type { EditorDocument, EditorFiles, FileEdit } from "../editor/files/editor-files.ts";
import { LiveDocument } from "../editor/files/live-document.ts";
import { workspaceEdit } from "../editor/files/workspace-edit.ts";
import { uriOf } from "../editor/workspace-uri.ts";

/** VS Code's documents and its file system, in a window without a disk. */
export class VsCodeFiles implements EditorFiles {
  openDocument(absolute: string): EditorDocument | undefined {
    const document = documentOf(absolute);
    return document === undefined ? undefined : new LiveDocument(document);
  }

  async loadDocument(absolute: string): Promise<EditorDocument> {
    try {
      return new LiveDocument(await vscode.workspace.openTextDocument(uriOf(absolute)));
    } catch (error) {
      throw new EditorError("not_text", `The editor cannot open ${absolute} as text.`, reasonOf(error), {
        cause: error,
      });
    }
  }

  async readDisk(absolute: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined> {
    const found = await statOf(absolute);
    if (found === undefined) return undefined;
    if (found.type !== vscode.FileType.File) {
      throw new EditorError("not_a_file", `${absolute} is not a file.`, "Name a file.");
    }
    if (found.size > options.maxBytes) {
      throw new EditorError("too_large", `${absolute} is larger than ${options.maxBytes} bytes.`, "Search it instead.");
    }
    return vscode.workspace.fs.readFile(uriOf(absolute));
  }

  async isWritable(absolute: string): Promise<boolean> {
    if (vscode.workspace.fs.isWritableFileSystem(uriOf(absolute).scheme) === false) return false;
    const found = await statOf(absolute);
    return found?.permissions !== vscode.FilePermission.Readonly;
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
    await vscode.workspace.fs.writeFile(uriOf(absolute), bytes);
  }

  async deleteFromDisk(absolute: string): Promise<void> {
    if ((await statOf(absolute)) !== undefined) await vscode.workspace.fs.delete(uriOf(absolute));
  }
}

function documentOf(absolute: string): vscode.TextDocument | undefined {
  const uri = uriOf(absolute).toString();
  return vscode.workspace.textDocuments.find((document) => !document.isClosed && document.uri.toString() === uri);
}

async function statOf(absolute: string): Promise<vscode.FileStat | undefined> {
  try {
    return await vscode.workspace.fs.stat(uriOf(absolute));
  } catch (error) {
    if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
    throw error;
  }
}
