import { sha256Hex } from "@gennai/protocol/digest";
import { EditorError } from "../editor-error.ts";
import type { WorkspacePath } from "../workspace-paths.ts";
import type { EditorDocument, EditorFiles } from "./editor-files.ts";

/** Largest file that is read or changed; bytes. */
export const maxFileBytes = 20 * 1024 * 1024;

/** The state of a file at one moment, in its buffer and on the disk. */
export interface FileState {
  readonly path: WorkspacePath;
  readonly disk: { readonly bytes: Uint8Array; readonly sha256: string } | undefined;
  /** undefined: no document of it is open. */
  readonly buffer: BufferState | undefined;
}

export interface BufferState {
  readonly document: EditorDocument;
  readonly version: number;
  readonly isDirty: boolean;
  readonly text: string;
  /** SHA-256 of the text as it would be saved. */
  readonly sha256: string;
}

/** Reads the state of a file. Rejects with `EditorError` if it is not a text file that can be read. */
export async function readFileState(files: EditorFiles, path: WorkspacePath): Promise<FileState> {
  const document = files.openDocument(path.absolute);
  const bytes = await files.readDisk(path.absolute, { maxBytes: maxFileBytes });
  return {
    path,
    disk: bytes === undefined ? undefined : { bytes, sha256: sha256Hex(bytes) },
    buffer: document === undefined ? undefined : await bufferState(files, document),
  };
}

/** Text, version and hash that belong together. Rejects with `EditorError` (`busy`) if the document changes all the time. */
export async function bufferState(files: EditorFiles, document: EditorDocument): Promise<BufferState> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const { text, version, isDirty, encoding } = document;
    const sha256 = sha256Hex(await files.encode(text, encoding));
    if (document.version === version && document.isDirty === isDirty)
      return { document, version, isDirty, text, sha256 };
  }
  throw new EditorError("busy", "The file changes faster than it can be read.", "Try again when nobody types in it.");
}
