import { wholeChange } from "@gennai/protocol/apply-review";
import type { ChangeSets } from "../apply/change-sets.ts";
import type { FinalChange } from "../apply/final-change.ts";
import { EditorError } from "../editor/editor-error.ts";
import type { EditorFiles } from "../editor/files/editor-files.ts";
import { readFileState } from "../editor/files/file-state.ts";
import { resolveInWorkspace } from "../editor/workspace-paths.ts";
import { type UnseenFile, withoutHunks } from "./unseen-file.ts";

export interface UndoWrittenOptions {
  readonly files: EditorFiles;
  readonly changeSets: ChangeSets;
  /** The session's folder, absolute. */
  readonly workspace: string;
}

/**
 * Takes back hunks of what the agent wrote, or all that is still as the agent left it, as one step for the editor's Undo, which is saved
 * unless the file had unsaved changes. A file that the agent made, and that has no other content, is deleted; one that it deleted comes
 * back. Rejects with `EditorError` if nothing is as the agent left it, and as `applyChangeSet` does.
 */
export async function undoWritten(
  { files, changeSets, workspace }: UndoWrittenOptions,
  file: UnseenFile,
  hunkIds: readonly string[] | "all",
  options: { readonly signal: AbortSignal },
): Promise<void> {
  const { path, base, agent, movedFrom } = file;
  const state = await readFileState(files, await resolveInWorkspace(workspace, path));
  const { disk, buffer } = state;
  const isDirty = buffer?.isDirty === true;
  const apply = (...changes: readonly FinalChange[]) =>
    changeSets.apply(changes, { save: "clean", signal: options.signal });
  if (agent === undefined && base !== undefined && disk === undefined && !isDirty) {
    await apply({ operation: "create", path, bytes: new TextEncoder().encode(base) });
    return;
  }
  if (movedFrom !== undefined && disk !== undefined && (hunkIds === "all" || hunkIds.includes(wholeChange))) {
    if (isDirty)
      throw new EditorError("stale_file", `Nothing was undone: ${path} has changes that are not saved.`, "Save it.");
    const bytes = hunkIds === "all" ? bytesWithout(file, disk.bytes) : disk.bytes;
    await apply(
      { operation: "create", path: movedFrom, bytes },
      { operation: "delete", path, baseSha256: disk.sha256 },
    );
    return;
  }
  const document = buffer?.document ?? (await files.loadDocument(state.path.absolute));
  const now = isDirty ? buffer.text : disk && (await files.decode(disk.bytes, document.encoding));
  const sha256 = isDirty ? buffer.sha256 : disk?.sha256;
  const undone = now === undefined ? undefined : withoutHunks(file, hunkIds, now);
  if (undone === undefined || sha256 === undefined) {
    throw new EditorError(
      "stale_file",
      `Nothing was undone: these lines of ${path} changed since the agent wrote them.`,
      "Change them by hand, or compare with “Gennai: Show All Changes”.",
    );
  }
  const isGone = undone === "" && base === undefined && !isDirty;
  await apply(
    isGone
      ? { operation: "delete", path, baseSha256: sha256 }
      : { operation: "update", path, text: undone, baseSha256: sha256 },
  );
}

/** What a tracked file, which is UTF-8, was before its lines were changed. */
function bytesWithout(file: UnseenFile, bytes: Uint8Array): Uint8Array {
  const now = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const undone = withoutHunks(file, "all", now);
  if (undone === undefined) return bytes;
  return new TextEncoder().encode(now.startsWith("\uFEFF") ? `\uFEFF${undone}` : undone);
}
