/** How VS Code's text files look to what decides about them. Paths are real and absolute. */
export interface EditorFiles {
  /** The open document of a file; undefined when none is open. Throws `EditorError` (`not_text`) for notebooks and custom editors with unsaved changes. */
  openDocument(absolute: string): EditorDocument | undefined;
  /** The document of a file, opened without being shown. Throws `EditorError` (`not_text`) when it holds no text. */
  loadDocument(absolute: string): Promise<EditorDocument>;
  /** The bytes on disk; undefined when there is nothing. Throws `EditorError` (`not_a_file`, `too_large`). */
  readDisk(absolute: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
  /** False when the file, or the directory that would hold it, cannot be written. */
  isWritable(absolute: string): Promise<boolean>;
  encode(text: string, encoding: string): Promise<Uint8Array>;
  /** Without the byte order mark. */
  decode(bytes: Uint8Array, encoding: string): Promise<string>;
  /** One undoable step. False when the editor would not do it; then part of it may have happened. */
  applyEdits(edits: readonly FileEdit[], label: string): Promise<boolean>;
  /** Writes bytes past the editor; the directory exists. */
  writeDisk(absolute: string, bytes: Uint8Array): Promise<void>;
  deleteFromDisk(absolute: string): Promise<void>;
}

/** A document as it is now: a live view, not a copy. */
export interface EditorDocument {
  readonly text: string;
  /** Counts edits. */
  readonly version: number;
  readonly isDirty: boolean;
  /** VS Code's name for it, e.g. `utf8`, `utf8bom`, `utf16le`, `windows1252`. */
  readonly encoding: string;
  readonly eol: "lf" | "crlf";
  /** False when nothing was saved. */
  save(): Promise<boolean>;
}

export type FileEdit =
  | {
      readonly type: "text";
      readonly absolute: string;
      readonly edits: readonly TextReplacement[];
      /** undefined: line ends stay. */
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
