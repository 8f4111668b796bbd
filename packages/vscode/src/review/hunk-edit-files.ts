import * as vscode from "vscode";

const scheme = "gennai-hunk";

/** Most texts that can be edited at the same time; older ones can no longer be saved. */
const most = 50;

interface EditedHunk {
  bytes: Uint8Array;
  changed: number;
  readonly saved: (text: string) => void;
}

/** Virtual files with the new lines of one hunk: what is saved there is the user's version; no real file is written. */
export class HunkEditFiles implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #files = new Map<string, EditedHunk>();
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #registered: vscode.Disposable;
  #last = 0;
  readonly onDidChangeFile = this.#changes.event;

  constructor() {
    this.#registered = vscode.workspace.registerFileSystemProvider(scheme, this, { isCaseSensitive: true });
  }

  /** @param name name of the file that the hunk belongs to; decides the language */
  async open(name: string, text: string, saved: (text: string) => void): Promise<void> {
    const uri = vscode.Uri.from({ scheme, path: `/${++this.#last}/${name.split("/").at(-1) ?? name}` });
    this.#files.set(uri.path, { bytes: new TextEncoder().encode(text), changed: Date.now(), saved });
    const [oldest] = this.#files.keys();
    if (this.#files.size > most && oldest !== undefined) this.#files.delete(oldest);
    await vscode.window.showTextDocument(uri, { viewColumn: vscode.ViewColumn.Beside, preview: false });
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const { bytes, changed } = this.#file(uri);
    return { type: vscode.FileType.File, ctime: 0, mtime: changed, size: bytes.length };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    return this.#file(uri).bytes;
  }

  writeFile(uri: vscode.Uri, content: Uint8Array): void {
    const file = this.#file(uri);
    file.bytes = content;
    file.changed = Date.now();
    file.saved(new TextDecoder().decode(content));
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#registered.dispose();
    this.#changes.dispose();
  }

  #file(uri: vscode.Uri): EditedHunk {
    const file = this.#files.get(uri.path);
    if (file === undefined) throw vscode.FileSystemError.FileNotFound(uri);
    return file;
  }
}
