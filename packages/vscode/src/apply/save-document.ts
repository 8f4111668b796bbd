import type { EditorDocument } from "../editor/files/editor-files.ts";

/** Milliseconds the editor's own saving may take. */
const timeoutMs = 1000;

/**
 * Saves what a document holds. True when it is on disk, also when the editor's auto save was faster: then the editor answers
 * that it saved nothing.
 */
export async function saveDocument(document: EditorDocument): Promise<boolean> {
  if (!document.isDirty || (await document.save())) return true;
  for (let waited = 0; document.isDirty && waited < timeoutMs; waited += 50) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return !document.isDirty;
}
