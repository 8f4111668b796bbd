import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import { ServiceError } from "@gennai/machine/service-error";
import type { WorkspaceRoot } from "@gennai/machine/workspace/paths/workspace-root";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import type { FileState } from "@gennai/store/checkpoints/file-state";
import type { Session } from "../session/session.ts";
import type { OpenRestore } from "../session/state/work-steps.ts";
import { WorkingTreeClaim } from "../session/working-tree-claim.ts";
import { filesIn, restoreRoot } from "./present-files.ts";

/**
 * Completes the record of a restore that was interrupted by a server's end or a failed write, from what the files contain now.
 * So it is listed, and can be undone. Does nothing while another process works in the tree.
 */
export async function finishInterruptedRestore(session: Session): Promise<void> {
  const { services, workspace, state } = session;
  if (state.work.openRestore === undefined || workspace.client !== undefined) return;
  using tree = new WorkingTreeClaim(services.locks, workspace.place, session.id);
  if ((await tree.claim()).type === "held") return;
  try {
    await recordRestore(session, state.work.openRestore);
  } catch (error) {
    // Another server owns the session or runs a turn of it: it completes the restore when it opens the session.
    if (!(error instanceof ServiceError)) throw error;
  }
}

/** The caller must hold the tree. */
export async function recordRestore(session: Session, restore: OpenRestore): Promise<void> {
  const { checkpointId, restoreId } = restore;
  const root = restoreRoot(session);
  const { files, skipped } = await whatWasWritten(restore.files, root);
  await session.decided(
    [{ type: "checkpoint-restored", checkpointId, restoreId, files, skipped, interrupted: true }],
    "undo",
    { checkpointId, restoreId, skipped: skipped.length, interrupted: true },
    files,
  );
}

async function whatWasWritten(
  planned: readonly FileChangeRecord[],
  root: WorkspaceRoot,
): Promise<{ readonly files: readonly FileChangeRecord[]; readonly skipped: readonly SkippedFile[] }> {
  const files: FileChangeRecord[] = [];
  const skipped: SkippedFile[] = [];
  const present = filesIn(root);
  for (const record of planned) {
    const state = await present.at(record.path);
    const now = "sha256" in state ? state.sha256 : undefined;
    if (state.type === "unknown") skipped.push({ path: record.path, reason: "not_certain" });
    else if (isUntouched(record, state, now)) skipped.push({ path: record.path, reason: "not_restored" });
    else if (now === record.afterSha256 && (state.type === "link") === (record.afterLink === true)) files.push(record);
    // The old file was removed, but the new one not yet written: undoing this restores the old one.
    else if (now === undefined) files.push(withoutAfter(record));
    else skipped.push({ path: record.path, reason: "changed_since" });
  }
  return { files, skipped };
}

/** Also covers a file that was to be created, and one whose mode alone was to change. */
function isUntouched(
  { beforeSha256, beforeLink, beforeMode }: FileChangeRecord,
  state: FileState,
  now: string | undefined,
): boolean {
  if (now !== beforeSha256 || (state.type === "link") !== (beforeLink === true)) return false;
  return state.type !== "file" || beforeMode === undefined || state.mode === beforeMode;
}

function withoutAfter({ path, beforeSha256, beforeMode, beforeLink }: FileChangeRecord): FileChangeRecord {
  return { path, operation: "delete", beforeSha256, beforeMode, beforeLink };
}
