import { sha256Hex } from "@gennai/protocol/digest";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { maxFileBytes } from "../editor/files/file-state.ts";
import { lineEndsOf } from "../editor/files/text-shape.ts";
import { type PlannedChange, type PlannedUpdate, textEdit } from "./plan-change.ts";
import { saveDocument } from "./save-document.ts";

/**
 * Reverts the applied part of a failed change set. What others changed meanwhile is left alone. Resolves with the names of files
 * that could not be restored.
 */
export async function restore(files: EditorFiles, planned: readonly PlannedChange[]): Promise<readonly string[]> {
  const lost: string[] = [];
  for (const change of planned.toReversed()) {
    const restored = await restoreOne(files, change).catch(() => false);
    if (!restored) lost.unshift(change.path.name);
  }
  return lost;
}

async function restoreOne(files: EditorFiles, change: PlannedChange): Promise<boolean> {
  const { absolute } = change.path;
  const now = await files.readDisk(absolute, { maxBytes: maxFileBytes });
  switch (change.operation) {
    case "create":
      if (now === undefined) return true;
      if (sha256Hex(now) !== sha256Hex(change.bytes)) return false;
      await files.deleteFromDisk(absolute);
      return true;
    case "delete":
      if (now === undefined) await files.writeDisk(absolute, change.before);
      else return sha256Hex(now) === change.beforeSha256;
      return true;
    case "update":
      return restoreUpdate(files, change);
  }
}

async function restoreUpdate(files: EditorFiles, change: PlannedUpdate): Promise<boolean> {
  const { document, path, text, beforeText, beforeEol, before, wasDirty } = change;
  if (document.text !== beforeText) {
    if (document.text !== text) return false;
    const ends = lineEndsOf(text);
    const eol = ends === "lf" || ends === "crlf" ? ends : document.eol;
    if (!(await files.applyEdits([textEdit(path, text, eol, beforeText, beforeEol)], "Gennai: undo"))) return false;
    if (document.text !== beforeText) return false;
  }
  if (wasDirty) return true;
  if (!(await saveDocument(document))) return false;
  const now = await files.readDisk(path.absolute, { maxBytes: maxFileBytes });
  if (before !== undefined && (now === undefined || sha256Hex(now) !== sha256Hex(before))) {
    await files.writeDisk(path.absolute, before);
  }
  return true;
}
