import * as vscode from "vscode";

export type FolderEntryKind = "file" | "directory" | "link" | "other";

/**
 * The files of one folder, by paths relative to it with slashes; empty for the folder itself. A link that is the last part of a
 * path is not followed.
 */
export interface FolderFiles {
  /** undefined if nothing is there. */
  stat(
    path: string,
  ): Promise<{ readonly kind: FolderEntryKind; readonly size: number; readonly changed: number } | undefined>;
  /** Rejects if there is no such directory. */
  entries(path: string): Promise<readonly { readonly name: string; readonly kind: FolderEntryKind }[]>;
  read(path: string): Promise<Uint8Array>;
  /** Also makes the directories above the file. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Removes a file, or an empty directory. */
  remove(path: string): Promise<void>;
  /** True if an editor has unsaved changes of the file. */
  isDirty(path: string): boolean;
}

/** A folder of the window, through VS Code's file system: on a disk, on another machine, or in a browser. */
export class VsCodeFolderFiles implements FolderFiles {
  readonly #folder: vscode.Uri;

  constructor(folder: vscode.Uri) {
    this.#folder = folder;
  }

  async stat(path: string) {
    try {
      const { type, size, mtime } = await vscode.workspace.fs.stat(this.#uri(path));
      return { kind: kindOf(type), size, changed: mtime };
    } catch (error) {
      if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") return undefined;
      throw error;
    }
  }

  async entries(path: string) {
    const found = await vscode.workspace.fs.readDirectory(this.#uri(path));
    return found.map(([name, type]) => ({ name, kind: kindOf(type) }));
  }

  async read(path: string): Promise<Uint8Array> {
    return vscode.workspace.fs.readFile(this.#uri(path));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    await vscode.workspace.fs.writeFile(this.#uri(path), bytes);
  }

  async remove(path: string): Promise<void> {
    await vscode.workspace.fs.delete(this.#uri(path), { recursive: false, useTrash: false });
  }

  isDirty(path: string): boolean {
    const uri = this.#uri(path).toString();
    return vscode.workspace.textDocuments.some((document) => document.isDirty && document.uri.toString() === uri);
  }

  #uri(path: string): vscode.Uri {
    return path === "" ? this.#folder : vscode.Uri.joinPath(this.#folder, ...path.split("/"));
  }
}

function kindOf(type: vscode.FileType): FolderEntryKind {
  if ((type & vscode.FileType.SymbolicLink) !== 0) return "link";
  if (type === vscode.FileType.Directory) return "directory";
  return type === vscode.FileType.File ? "file" : "other";
}
