import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { FoundEdit } from "@gennai/machine/staged-shell/found/found-edits";
import type { BlobStore } from "@gennai/store/log/session-log";
import { maxKeptFile, maxKeptOfCommand, type SeenContents } from "../../session/state/seen-contents.ts";

export interface EditContents {
  readonly blobs: Pick<BlobStore, "put">;
  /** Stores what the work writes, up to a share of its capacity. */
  readonly seen?: Pick<SeenContents, "keep"> | undefined;
}

/** Stores the bytes that staged work is about to replace, as an edit does. @returns their records for the change set */
export async function editRecords(
  edits: readonly FoundEdit[],
  { blobs, seen }: EditContents,
): Promise<readonly FileChangeRecord[]> {
  const records: FileChangeRecord[] = [];
  let left = maxKeptOfCommand;
  for (const edit of edits) {
    const { path, operation, beforeSha256, afterSha256, beforeMode, madeDirectories } = edit;
    const bytes = edit.before();
    if (bytes !== undefined) await blobs.put(bytes, "application/octet-stream");
    const written = seen === undefined ? undefined : edit.after({ maxBytes: Math.min(maxKeptFile, left) });
    if (written !== undefined && afterSha256 !== undefined) {
      seen?.keep(afterSha256, written);
      left -= written.length;
    }
    records.push({
      path,
      operation,
      ...(beforeSha256 === undefined ? {} : { beforeSha256 }),
      ...(afterSha256 === undefined ? {} : { afterSha256 }),
      ...(operation === "delete" && beforeMode !== undefined ? { beforeMode } : {}),
      ...(madeDirectories.length === 0 ? {} : { madeDirectories }),
    });
  }
  return records;
}
