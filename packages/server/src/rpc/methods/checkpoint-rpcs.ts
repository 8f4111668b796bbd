import type { RestoreCheckpointRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { checkpointToMessage, skippedFileToMessage } from "@gennai/protocol/model/session/checkpoint";
import { appliedFileToMessage } from "@gennai/protocol/model/session/proposal";
import { checkpointsOf } from "@gennai/sessions/restore/list-checkpoints";
import { restoreCheckpoint } from "@gennai/sessions/restore/restore-checkpoint";
import type { Session } from "@gennai/sessions/session/session";

export async function listCheckpointsRpc(session: Session) {
  if (session.workspace.client !== undefined) {
    return {
      checkpoints: [],
      problem: "A client holds the files: no trees are kept, and UndoChangeSet takes changes back.",
    };
  }
  const checkpoints = session.services.checkpointsOf(session.workspace);
  return {
    checkpoints: checkpointsOf(session.state, (id) => checkpoints.isKept(id)).map(checkpointToMessage),
    problem: checkpoints.problem?.message ?? "",
  };
}

export async function restoreCheckpointRpc(session: Session, request: RestoreCheckpointRequest) {
  const { checkpointId, paths, dryRun, force } = request;
  const restored = await session.acts.during("a restore", () =>
    restoreCheckpoint(session, { checkpointId, paths, dryRun, force }),
  );
  return {
    restoreId: restored.restoreId,
    files: restored.files.map(appliedFileToMessage),
    skipped: restored.skipped.map(skippedFileToMessage),
    lines: (restored.lines ?? []).map(({ path, added, removed }) => ({ path, added, removed })),
  };
}
