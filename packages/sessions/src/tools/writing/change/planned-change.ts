import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import type { ChangedBlock, FileChange, ObservedFile } from "@gennai/governance/tool";
import type { AppliedChange, FileContent, WorkspaceChange } from "@gennai/machine/workspace/workspace";

/** A change worked out by `analyse`, waiting for the gate's word. */
export interface PlannedChange {
  readonly change: WorkspaceChange;
  readonly before: FileContent | undefined;
  readonly blocks: readonly ChangedBlock[];
  /** True when `before` is an editor's buffer. */
  readonly inEditor: boolean;
  /** What the model has to know of how it was worked out; mostly empty. */
  readonly note: string;
  /** True when the file counts as not read after it. */
  readonly readAgain: boolean;
}

/** What the session has seen of a file that it changed itself. */
export function observedAfter(
  planned: PlannedChange | undefined,
  path: string,
  source: ObservedFile["source"],
  sha256: string | undefined,
): ObservedFile {
  return { path, source, sha256: planned?.readAgain === true ? undefined : sha256 };
}

/** Behind a report, each on lines of its own. */
export function notesOf(planned: readonly PlannedChange[]): string {
  return planned.map(({ note }) => (note === "" ? "" : `\n${note}`)).join("");
}

/** What the session's log keeps of a change, for undo. */
export function changeRecord(change: FileChange): FileChangeRecord {
  return {
    path: change.path,
    operation: change.operation,
    ...(change.beforeSha256 === undefined ? {} : { beforeSha256: change.beforeSha256 }),
    ...(change.afterSha256 === undefined ? {} : { afterSha256: change.afterSha256 }),
  };
}

/** What the session's log keeps of a change on the disk: also what a content does not say. */
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

/** Which lines of the one updated file changed, for the model; empty for anything else. */
export function lineReport(changes: readonly FileChange[]): string {
  const updated = changes.length === 1 ? changes[0] : undefined;
  if (updated?.operation !== "update" || updated.blocks.length === 0) return "";
  const shown = updated.blocks
    .slice(0, 10)
    .map(({ startLine, endLine }) => (startLine === endLine ? `${startLine}` : `${startLine}-${endLine}`));
  return ` Changed lines: ${shown.join(", ")}${updated.blocks.length > shown.length ? ", …" : ""}.`;
}
