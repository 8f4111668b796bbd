import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { ChangedBlock, FileChange, ObservedFile } from "@gennai/governance/tool";
import type { AppliedChange, FileContent, WorkspaceChange } from "@gennai/machine/workspace/workspace";

/** A change computed by `analyse`, waiting for the gate's decision. */
export interface PlannedChange {
  readonly change: WorkspaceChange;
  readonly before: FileContent | undefined;
  readonly blocks: readonly ChangedBlock[];
  /** True when `before` is an editor's buffer. */
  readonly inEditor: boolean;
  /** Note for the model about how the change was computed; usually empty. */
  readonly note: string;
  /** True if the file counts as unread afterwards. */
  readonly readAgain: boolean;
}

/** The session's knowledge of a file that it changed itself. */
export function observedAfter(
  planned: PlannedChange | undefined,
  path: string,
  source: ObservedFile["source"],
  sha256: string | undefined,
): ObservedFile {
  return { path, source, sha256: planned?.readAgain === true ? undefined : sha256 };
}

/** Notes after a report, each on its own lines. */
export function notesOf(planned: readonly PlannedChange[]): string {
  return planned.map(({ note }) => (note === "" ? "" : `\n${note}`)).join("");
}

/** A change as logged for undo. */
export function changeRecord({ path, operation, beforeSha256, afterSha256 }: FileChange): FileChangeRecord {
  return { path, operation, beforeSha256, afterSha256 };
}

/** A change on disk as logged for undo, including what the content does not show. */
export function appliedRecord(applied: AppliedChange): FileChangeRecord {
  const { path, operation, before, beforeMode, afterSha256, madeDirectories } = applied;
  return {
    path: path.relative,
    operation,
    ...(before === undefined ? {} : { beforeSha256: before.sha256 }),
    ...(afterSha256 === undefined ? {} : { afterSha256 }),
    ...(operation === "delete" && beforeMode !== undefined ? { beforeMode } : {}),
    ...(madeDirectories === undefined ? {} : { madeDirectories }),
  };
}

/** The changed lines of the one updated file, for the model; empty for anything else. */
export function lineReport(changes: readonly FileChange[]): string {
  const updated = changes.length === 1 ? changes[0] : undefined;
  if (updated?.operation !== "update" || updated.blocks.length === 0) return "";
  const shown = updated.blocks
    .slice(0, 10)
    .map(({ startLine, endLine }) => (startLine === endLine ? `${startLine}` : `${startLine}-${endLine}`));
  return ` Changed lines: ${shown.join(", ")}${updated.blocks.length > shown.length ? ", …" : ""}.`;
}
