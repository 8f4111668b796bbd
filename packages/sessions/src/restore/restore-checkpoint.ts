import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { FileChangeRecord } from "@gennai/agent/events/proposal";
import { ServiceError } from "@gennai/machine/service-error";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { isWithin } from "@gennai/protocol/is-within";
import type { SkippedFile } from "@gennai/protocol/model/session/checkpoint";
import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import type { PathChange } from "@gennai/store/checkpoints/file-state";
import { heldByClient } from "../client-workspace/held-by-client.ts";
import { failedAct, refuseInEmergency } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { WorkStep } from "../session/state/work-steps.ts";
import { holdTree } from "../session/working-tree-claim.ts";
import { FileContents } from "./file-contents.ts";
import { recordRestore } from "./finish-restore.ts";
import { checkpointsOf } from "./list-checkpoints.ts";
import { diskPlace, filesIn, type PresentFiles, restoreRoot } from "./present-files.ts";
import { changeFromRecord, type PlannedRestore, planRestore } from "./restore-plan.ts";
import { recordOf, writeRestore } from "./write-restore.ts";

export interface RestoreRequest {
  readonly checkpointId: string;
  /** Files or directories, relative to the workspace; empty: everything changed since. */
  readonly paths: readonly string[];
  readonly dryRun: boolean;
  /** Also restores what others changed since; only with `paths`. */
  readonly force: boolean;
}

export interface Restored {
  /** Empty for a dry run, and if there was nothing to do. */
  readonly restoreId: string;
  readonly files: readonly FileChangeRecord[];
  readonly skipped: readonly SkippedFile[];
  /** Dry run only: changed lines of the files for which they can be counted. */
  readonly lines?: readonly RestoredLines[];
}

/**
 * Reverts a session's file changes since a checkpoint. It is a user's action: rules about paths do not apply, because only
 * earlier content is written, but the emergency controls do. Throws `ServiceError`.
 */
export async function restoreCheckpoint(session: Session, request: RestoreRequest): Promise<Restored> {
  const { workspace } = session;
  if (workspace.client !== undefined) throw heldByClient("It has no checkpoints. Undo a change set instead.");
  checkPaths(request);
  if (!request.dryRun) {
    session.refuseWhileRunning("restore");
    refuseInEmergency(session, "Nothing was restored", restoreTool);
  }
  await session.catchUp();
  using _tree = request.dryRun ? undefined : await holdTree(session, "Nothing was restored");
  try {
    // A restore of a server that stopped.
    if (!request.dryRun && session.state.work.openRestore !== undefined) {
      await recordRestore(session, session.state.work.openRestore);
    }
    return await restore(session, request);
  } catch (error) {
    if (!(error instanceof CheckpointError)) return failedAct(error, "Not restored", "Look at it, and restore again.");
    throw new ServiceError("failed_precondition", `Nothing was restored: ${error.message}`, {
      reason: error.code,
      cause: error,
    });
  }
}

async function restore(session: Session, request: RestoreRequest): Promise<Restored> {
  const { services, workspace, state } = session;
  const { checkpointId, paths, force, dryRun } = request;
  const checkpoint = checkpointsOf(state, () => true).find((each) => each.checkpointId === checkpointId);
  if (checkpoint === undefined) {
    throw new ServiceError(
      "not_found",
      `This session has no checkpoint ${JSON.stringify(checkpointId.slice(0, 100))}.`,
      {
        hint: "List the checkpoints, and name one of them.",
      },
    );
  }
  const checkpoints = services.checkpointsOf(workspace);
  const contents = new FileContents(session.seen, checkpoints, services.stages?.replaced);
  const root = restoreRoot(session);
  const present = filesIn(root);
  const steps = state.work.all.filter(({ seq }) => seq >= checkpoint.fromSeq);
  const changes: PathChange[] = [];
  for (const step of steps) {
    const found = step.records?.map(changeFromRecord) ?? (await checkpoints.changesOf(step.checkpointId));
    if (found === undefined) throw new CheckpointError("not_kept", "What was there before is no longer kept.");
    changes.push(...found);
  }
  const directories = steps
    .flatMap((step) => step.directories ?? [])
    .filter(({ path }) => paths.length === 0 || paths.some((named) => isWithin(path, { directory: named })));
  const plan = await planRestore(changes, contents, { files: present, paths, force });
  if (dryRun || plan.restores.length === 0) {
    const files = plan.restores.map((each) => recordOf(each, undefined));
    return {
      restoreId: "",
      files,
      skipped: plan.skipped,
      lines: await restoredLines(plan.restores, contents, present),
    };
  }
  // Keep the current content, so that this restore can be undone too.
  for (const { path, present: state, isOnlyMode } of plan.restores) {
    const bytes = isOnlyMode ? undefined : await present.bytes(path, state);
    if (bytes !== undefined) await services.blobs.put(bytes, "application/octet-stream");
  }
  refuseInEmergency(session, "Nothing was restored", restoreTool);
  const restoreId = `r-${randomBytes(8).toString("hex")}`;
  const announce = (files: readonly FileChangeRecord[]): Promise<void> =>
    session.announceRestore({ checkpointId, restoreId, files });
  const files = await writeRestore(plan.restores, contents, {
    ...diskPlace(session, root),
    announce,
    directories,
  }).catch(async (error: unknown) => {
    // Part of it may be written: it is recorded, and can be undone.
    if (state.work.openRestore !== undefined) await recordRestore(session, state.work.openRestore);
    throw error;
  });
  const { skipped } = plan;
  await session.decided(
    [{ type: "checkpoint-restored", checkpointId, restoreId, files, skipped }],
    "undo",
    { checkpointId, restoreId, ...(force ? { force } : {}), skipped: skipped.length, turnIds: turnsOf(steps) },
    files,
  );
  return { restoreId, files, skipped };
}

const restoreTool = { name: "RestoreCheckpoint", statement: "Restore a checkpoint" } as const;

function turnsOf(steps: readonly WorkStep[]): readonly string[] {
  return [...new Set(steps.map(({ turnId }) => turnId).filter((turnId) => turnId !== ""))];
}

function checkPaths({ paths, force }: RestoreRequest): void {
  if (force && paths.length === 0) {
    throw new ServiceError(
      "invalid_argument",
      "Name the files to restore by force (paths): it overwrites what others changed.",
    );
  }
  if (paths.length > 10_000 || paths.some((path) => path === "" || path.startsWith("/") || path.includes("\0"))) {
    throw new ServiceError("invalid_argument", "paths are files or directories, relative to the workspace.");
  }
}

/** Lines that a restore adds to and removes from a file. */
interface RestoredLines {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

/** Limits for counting, because a preview must be fast: files, bytes of a file, milliseconds. */
const most = { files: 200, bytes: 1_000_000, all: 1000 };

/**
 * Line counts of the files that have any: not of binary or huge files, those whose earlier content is no longer kept, or those
 * after the time limit.
 */
export async function restoredLines(
  restores: readonly PlannedRestore[],
  contents: FileContents,
  files: Pick<PresentFiles, "bytes">,
): Promise<readonly RestoredLines[]> {
  const deadline = performance.now() + most.all;
  const counted: RestoredLines[] = [];
  for (const { path, present, target, isOnlyMode, merged } of restores.slice(0, most.files)) {
    const left = deadline - performance.now();
    if (left <= 0) break;
    if (isOnlyMode) continue;
    const now = present.type === "absent" ? nothing : await files.bytes(path, present);
    const bytes =
      target.type === "absent" ? nothing : (merged ?? (await contents.bytes(target, { maxBytes: most.bytes })));
    const before = now === undefined ? undefined : textOf(now);
    const after = bytes === undefined ? undefined : textOf(bytes);
    if (before === undefined || after === undefined) continue;
    const { edits } = diffLines(before, after, { timeoutMs: left });
    counted.push({
      path,
      added: edits.reduce((sum, { newCount }) => sum + newCount, 0),
      removed: edits.reduce((sum, { oldCount }) => sum + oldCount, 0),
    });
  }
  return counted;
}

const nothing = new Uint8Array();

/** Undefined if it is not text. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > most.bytes || bytes.includes(0) || !isUtf8(bytes)) return undefined;
  return new TextDecoder().decode(bytes);
}
