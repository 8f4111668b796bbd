/** VS Code's text files, for code that does not depend on VS Code. Paths are real and absolute. */
export interface EditorFiles {
  /** The open document of a file, if any. Throws `EditorError` (`not_text`) for unsaved notebooks and custom editors. */
  openDocument(absolute: string): EditorDocument | undefined;
  /** The document of a file, opened without being shown. Rejects with `EditorError` (`not_text`) if it is not text. */
  loadDocument(absolute: string): Promise<EditorDocument>;
  /** The bytes on disk; undefined if there is no file. Rejects with `EditorError` (`not_a_file`, `too_large`). */
  readDisk(absolute: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /** False if the file, or the directory that would contain it, cannot be written. */
  isWritable(absolute: string): Promise<boolean>;
  encode(text: string, encoding: string): Promise<Uint8Array>;
  /** The text without a byte-order mark. */
  decode(bytes: Uint8Array, encoding: string): Promise<string>;
  /** Applies edits as one undoable step. False if the editor refused; then part of them may have been applied. */
  applyEdits(edits: readonly FileEdit[], label: string): Promise<boolean>;
  /** Writes bytes without the editor; the directory must exist. */
  writeDisk(absolute: string, bytes: Uint8Array): Promise<void>;
  deleteFromDisk(absolute: string): Promise<void>;
}

/** A live view of a document, not a copy. */
export interface EditorDocument {
  readonly text: string;
  /** Increases with each edit. */
  readonly version: number;
  readonly isDirty: boolean;
  /** VS Code's name of the encoding, e.g. `utf8`, `utf8bom`, `utf16le`, `windows1252`. */
  readonly encoding: string;
  readonly eol: "lf" | "crlf";
  /** False if nothing was saved. */
  save(): Promise<boolean>;
}

export type FileEdit =
  | {
      readonly type: "text";
      readonly absolute: string;
      readonly edits: readonly TextReplacement[];
      /** undefined: line ends stay as they are. */
      readonly eol: "lf" | "crlf" | undefined;
    }
  | { readonly type: "create"; readonly absolute: string; readonly bytes: Uint8Array }
  | { readonly type: "delete"; readonly absolute: string };

/** Characters [start, end) of the old text, and their replacement. */
export interface TextReplacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}
