import type { EditorDocument } from "../editor/files/editor-files.ts";

/** Milliseconds to wait for the editor's own saving. */
const timeoutMs = 1000;

/**
 * Saves a document. True if it is on disk, also if the editor's auto save was faster: then the editor answers that it saved
 * nothing.
 */
export async function saveDocument(document: EditorDocument): Promise<boolean> {
  if (!document.isDirty || (await document.save())) return true;
  for (let waited = 0; document.isDirty && waited < timeoutMs; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return !document.isDirty;
}
