import type { ServiceImpl } from "@connectrpc/connect";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { checkpointToMessage, skippedFileToMessage } from "@gennai/protocol/model/session/checkpoint";
import { appliedFileToMessage } from "@gennai/protocol/model/session/proposal";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { checkpointsOf } from "@gennai/sessions/restore/list-checkpoints";
import { restoreCheckpoint } from "@gennai/sessions/restore/restore-checkpoint";

type CheckpointRpcs = Pick<ServiceImpl<typeof AgentService>, "listCheckpoints" | "restoreCheckpoint">;

/** The points to which a session's work on the files can be taken back. */
export function checkpointRpcs(manager: SessionManager): CheckpointRpcs {
  return {
    async listCheckpoints({ sessionId }) {
      const session = await manager.get(sessionId);
      if (session.workspace.client !== undefined) {
        return {
          checkpoints: [],
          problem: "A client holds the files, so there are no checkpoints. Undo a change set instead.",
        };
      }
      const checkpoints = session.services.checkpointsOf(session.workspace);
      return {
        checkpoints: checkpointsOf(session.state, (id) => checkpoints.isKept(id)).map(checkpointToMessage),
        problem: checkpoints.problem?.message ?? "",
      };
    },

    async restoreCheckpoint({ sessionId, checkpointId, paths, dryRun, force }) {
      const session = await manager.get(sessionId);
      const restored = await session.acts.during("a restore", () =>
        restoreCheckpoint(session, { checkpointId, paths, dryRun, force }),
      );
      return {
        restoreId: restored.restoreId,
        files: restored.files.map(appliedFileToMessage),
        skipped: restored.skipped.map(skippedFileToMessage),
        lines: (restored.lines ?? []).map(({ path, added, removed }) => ({ path, added, removed })),
      };
    },
  };
}
