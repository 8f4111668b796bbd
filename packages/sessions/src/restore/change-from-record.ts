import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { FileState, PathChange } from "@gennai/store/checkpoints/snapshot/file-state";

/** A recorded change as a restore takes it back. */
export function changeFromRecord(record: FileChangeRecord): PathChange {
  const { path, beforeSha256, afterSha256, beforeMode, afterMode, beforeLink, afterLink } = record;
  return {
    path,
    before: stateFrom(beforeSha256, beforeMode, beforeLink),
    after: stateFrom(afterSha256, afterMode, afterLink),
  };
}

function stateFrom(sha256: string | undefined, mode: number | undefined, isLink: boolean | undefined): FileState {
  if (sha256 === undefined) return { type: "absent" };
  return { type: isLink === true ? "link" : "file", sha256, ...(mode === undefined ? {} : { mode }) };
}
