import type { DirectoryChangeRecord, FileChangeRecord } from "@gennai/agent/events/proposal";
import type { FoundEdit, FoundEdits } from "@gennai/shell/found/found-edits";
import type { BlobStore } from "@gennai/store/log/session-log";
import { maxKeptFile, maxKeptOfCommand, type SeenContents } from "../../session/state/seen-contents.ts";

export interface EditContents {
  readonly blobs: Pick<BlobStore, "put">;
  /** Stores what the work writes, up to a share of its capacity. */
  readonly seen?: Pick<SeenContents, "keep"> | undefined;
}

/** Of a change set. */
export interface EditRecords {
  readonly files: readonly FileChangeRecord[];
  readonly directories: readonly DirectoryChangeRecord[];
}

/**
 * Stores the bytes that staged work is about to replace, as an edit does, unless the commit keeps the files.
 * @returns their records for the change set
 */
export async function editRecords(
  { files, directories }: FoundEdits,
  { blobs, seen }: EditContents,
): Promise<EditRecords> {
  const records: FileChangeRecord[] = [];
  let left = maxKeptOfCommand;
  for (const edit of files) {
    const { after, copied } = edit;
    const bytes = copied();
    if (bytes !== undefined) await blobs.put(bytes, "application/octet-stream");
    const written = seen === undefined ? undefined : edit.bytesAfter({ maxBytes: Math.min(maxKeptFile, left) });
    if (written !== undefined && after !== undefined) {
      seen?.keep(after.sha256, written);
      left -= written.length;
    }
    records.push(recordOf(edit));
  }
  return { files: records, directories };
}

/** Modes only where they matter: the user may change others later, and undo leaves them then. */
function recordOf({ path, operation, before, after }: FoundEdit): FileChangeRecord {
  const isOtherMode = before?.mode !== after?.mode;
  return {
    path,
    operation,
    ...(before === undefined ? {} : { beforeSha256: before.sha256 }),
    ...(after === undefined ? {} : { afterSha256: after.sha256 }),
    ...(before?.mode !== undefined && isOtherMode ? { beforeMode: before.mode } : {}),
    ...(before !== undefined && after?.mode !== undefined && isOtherMode ? { afterMode: after.mode } : {}),
    ...(before?.isLink === true ? { beforeLink: true } : {}),
    ...(after?.isLink === true ? { afterLink: true } : {}),
  };
}
