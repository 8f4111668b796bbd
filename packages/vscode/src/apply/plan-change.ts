import { mergedText } from "@gennai/protocol/diff/three-way-diff";
import { sha256Hex } from "@gennai/protocol/digest";
import { EditorError } from "../editor/editor-error.ts";
import type { EditorDocument, EditorFiles, FileEdit } from "../editor/files/editor-files.ts";
import { bufferState, type FileState, readFileState } from "../editor/files/file-state.ts";
import { binaryFile, looksBinary } from "../editor/files/read-file.ts";
import { lineEndsOf, withLineEnds, withoutByteOrderMark } from "../editor/files/text-shape.ts";
import { resolveInWorkspace, type WorkspacePath } from "../editor/workspace-paths.ts";
import type { FinalChange } from "./final-change.ts";
import { minimalEdits } from "./minimal-edits.ts";
import { OverlapError } from "./overlap.ts";

/** One file's part of a change set, checked and prepared; nothing of it is done yet. */
export type PlannedChange = PlannedCreate | PlannedUpdate | PlannedDelete;

export interface PlannedCreate {
  readonly operation: "create";
  readonly path: WorkspacePath;
  readonly bytes: Uint8Array;
  readonly edit: FileEdit;
}

export interface PlannedDelete {
  readonly operation: "delete";
  readonly path: WorkspacePath;
  readonly before: Uint8Array;
  readonly beforeSha256: string;
  readonly edit: FileEdit;
}

export interface PlannedUpdate {
  readonly operation: "update";
  readonly path: WorkspacePath;
  readonly document: EditorDocument;
  readonly version: number;
  readonly wasDirty: boolean;
  /** SHA-256 that the change is based on: of the buffer if it had unsaved changes, else of the disk. */
  readonly beforeSha256: string;
  /** The bytes on disk; undefined if the file exists only in the buffer. */
  readonly before: Uint8Array | undefined;
  readonly beforeText: string;
  readonly beforeEol: "lf" | "crlf";
  /** New text of the document. */
  readonly text: string;
  /**
   * Bytes that a save by the editor would not write: with mixed line ends, or with other line ends than on disk although the
   * document already shows the new text. undefined: the editor saves the right bytes.
   */
  readonly exactBytes: Uint8Array | undefined;
  readonly edit: FileEdit;
}

/** Checks a change against the present file. Throws `EditorError` that names the file. */
export async function planChange(files: EditorFiles, workspace: string, change: FinalChange): Promise<PlannedChange> {
  const path = await resolveInWorkspace(workspace, change.path);
  const state = await readFileState(files, path);
  switch (change.operation) {
    case "create":
      return planCreate(files, state, change.bytes);
    case "update":
      return planUpdate(files, state, change);
    case "delete":
      return planDelete(files, state, change.baseSha256);
  }
}

async function planCreate(files: EditorFiles, state: FileState, bytes: Uint8Array): Promise<PlannedCreate> {
  const { path, disk, buffer } = state;
  if (disk !== undefined || buffer?.isDirty === true) {
    throw new EditorError(
      "exists_already",
      `${path.name} exists already.`,
      "Ask for a change of the file that is there.",
    );
  }
  await requireWritable(files, path);
  return { operation: "create", path, bytes, edit: { type: "create", absolute: path.absolute, bytes } };
}

async function planDelete(files: EditorFiles, state: FileState, baseSha256: string): Promise<PlannedDelete> {
  const { path, disk, buffer } = state;
  if (buffer?.isDirty === true) throw unsaved(path);
  if (disk === undefined || disk.sha256 !== baseSha256) throw stale(path);
  await requireWritable(files, path);
  const edit: FileEdit = { type: "delete", absolute: path.absolute };
  return { operation: "delete", path, before: disk.bytes, beforeSha256: disk.sha256, edit };
}

async function planUpdate(
  files: EditorFiles,
  state: FileState,
  asked: { readonly text: string; readonly baseSha256: string; readonly from?: string },
): Promise<PlannedUpdate> {
  const { path, disk } = state;
  const change = await onPresent(files, state, asked);
  if (state.buffer?.isDirty === true && state.buffer.sha256 !== change.baseSha256) throw unsaved(path);
  if (state.buffer?.isDirty !== true && disk?.sha256 !== change.baseSha256) throw stale(path);
  if (disk !== undefined && looksBinary(disk.bytes)) throw binaryFile(path.name);
  await requireWritable(files, path);
  const document = state.buffer?.document ?? (await files.loadDocument(path.absolute));
  const buffer = await bufferState(files, document);
  if (buffer.isDirty && buffer.sha256 !== change.baseSha256) throw unsaved(path);
  if (!buffer.isDirty && disk !== undefined) await requireSameText(files, path, document, disk.bytes);
  const newText = withoutByteOrderMark(change.text);
  const ends = lineEndsOf(newText);
  const eol = ends === "lf" || ends === "crlf" ? ends : document.eol;
  const text = withLineEnds(newText, eol);
  const bytes = await encodeExactly(files, path, newText, document.encoding);
  if (text !== newText && buffer.isDirty) {
    throw new EditorError(
      "unsupported_encoding",
      `The new text of ${path.name} has line ends of both kinds, which an unsaved buffer cannot hold.`,
      "Save or discard the unsaved changes first.",
    );
  }
  const edit = textEdit(path, buffer.text, document.eol, text, eol);
  const editorSaves = buffer.isDirty || edit.edits.length > 0 || edit.eol !== undefined;
  const staysDifferent = !editorSaves && disk !== undefined && sha256Hex(bytes) !== disk.sha256;
  return {
    operation: "update",
    path,
    document,
    version: buffer.version,
    wasDirty: buffer.isDirty,
    beforeSha256: change.baseSha256,
    before: disk?.bytes,
    beforeText: buffer.text,
    beforeEol: document.eol,
    text,
    exactBytes: text === newText && !staysDifferent ? undefined : bytes,
    edit,
  };
}

/**
 * A change on top of what its user changed since on other lines. Throws `OverlapError` if the user changed the same lines; where
 * that cannot be told, the change stays as it was asked for.
 */
async function onPresent(
  files: EditorFiles,
  { disk, buffer, path }: FileState,
  { text, baseSha256, from }: { readonly text: string; readonly baseSha256: string; readonly from?: string },
): Promise<{ readonly text: string; readonly baseSha256: string }> {
  const isDirty = buffer?.isDirty === true;
  const present = isDirty ? buffer.sha256 : disk?.sha256;
  if (from === undefined || present === undefined || present === baseSha256) return { text, baseSha256 };
  const { encoding } = buffer?.document ?? (await files.loadDocument(path.absolute));
  const theirs = isDirty || disk === undefined ? (buffer?.text ?? "") : await files.decode(disk.bytes, encoding);
  const merged = mergedText({ base: from, mine: text, theirs });
  if (merged === undefined) throw new OverlapError({ path: path.name, from, wanted: text, present: theirs });
  return { text: merged, baseSha256: present };
}

/** The edit that turns a document's text into another; line ends are changed separately, not by replacing every line. */
export function textEdit(
  path: WorkspacePath,
  oldText: string,
  oldEol: "lf" | "crlf",
  newText: string,
  newEol: "lf" | "crlf",
): Extract<FileEdit, { readonly type: "text" }> {
  const edits = minimalEdits(oldText, withLineEnds(newText, oldEol));
  return { type: "text", absolute: path.absolute, edits, eol: newEol === oldEol ? undefined : newEol };
}

/** Throws `EditorError` unless the document shows what is on disk, and its encoding can write it back unchanged. */
async function requireSameText(
  files: EditorFiles,
  path: WorkspacePath,
  document: EditorDocument,
  bytes: Uint8Array,
): Promise<void> {
  const onDisk = await files.decode(bytes, document.encoding);
  const written = await files.encode(onDisk, document.encoding);
  if (sha256Hex(written) !== sha256Hex(bytes)) {
    throw new EditorError(
      "unsupported_encoding",
      `${path.name} cannot be written back byte for byte in the encoding ${document.encoding}.`,
      "Reopen it with the right encoding in the editor, then ask again.",
    );
  }
  if (document.text !== withLineEnds(onDisk, document.eol)) throw stale(path);
}

async function encodeExactly(
  files: EditorFiles,
  path: WorkspacePath,
  text: string,
  encoding: string,
): Promise<Uint8Array> {
  const bytes = await files.encode(text, encoding);
  if ((await files.decode(bytes, encoding)) === text) return bytes;
  throw new EditorError(
    "unsupported_encoding",
    `The new text of ${path.name} has characters that its encoding (${encoding}) does not have.`,
    "Save the file as UTF-8 first, or ask for a text without them.",
  );
}

async function requireWritable(files: EditorFiles, path: WorkspacePath): Promise<void> {
  if (await files.isWritable(path.absolute)) return;
  throw new EditorError("read_only", `${path.name} is read-only.`, "Make it writable, or leave this file out.");
}

function unsaved(path: WorkspacePath): EditorError {
  return new EditorError(
    "unsaved_changes",
    `${path.name} has unsaved changes that the change does not know.`,
    "Save or discard them, then ask for the change again.",
  );
}

export function stale(path: WorkspacePath): EditorError {
  return new EditorError(
    "stale_file",
    `${path.name} is no longer as the change found it.`,
    "Ask for the change again; it will be made on the new text.",
  );
}
