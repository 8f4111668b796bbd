import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ProposalReviewSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { optionalDigest } from "@gennai/protocol/model/checked-field";
import { checkpointToMessage, skippedFileToMessage } from "@gennai/protocol/model/session/checkpoint";
import { keptTreesToMessage, layeredTreeToMessage } from "@gennai/protocol/model/session/layer";
import { appliedFileToMessage } from "@gennai/protocol/model/session/proposal";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { undoChangeSet } from "@gennai/sessions/manager/undo";
import { applyProposal } from "@gennai/sessions/proposal/apply-proposal";
import { checkpointsOf } from "@gennai/sessions/restore/list-checkpoints";
import { restoreCheckpoint } from "@gennai/sessions/restore/restore-checkpoint";
import { dropFromLayer, keepFromLayer, listLayer } from "@gennai/sessions/restore/session-layer-acts";
import { reviewFromWire } from "../wire/events/review-wire.ts";

type ChangeRpcs = Pick<
  ServiceImpl<typeof AgentService>,
  "listCheckpoints" | "restoreCheckpoint" | "undoChangeSet" | "listLayer" | "keepLayer" | "dropLayer" | "applyProposal"
>;

/** What people do with a session's changes: take them back, keep or drop what git ignores, apply what is proposed. */
export function changeRpcs(manager: SessionManager): ChangeRpcs {
  const { redactor } = manager.services;
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

    async undoChangeSet({ sessionId, changeSetId, dryRun, rest }) {
      const session = await manager.get(sessionId);
      const undone = await session.acts.during("an undo", () =>
        undoChangeSet(session, changeSetId === "" ? undefined : changeSetId, { dryRun, rest }),
      );
      const { files, skipped, refs } = undone;
      return {
        changeSetId: undone.changeSetId,
        files: files.map(appliedFileToMessage),
        skipped: skipped.map(skippedFileToMessage),
        refs: [...refs],
      };
    },

    async listLayer({ sessionId }) {
      const trees = await listLayer(await manager.get(sessionId));
      const shown = trees.map(async (tree) => ({ ...tree, command: await redactor.redact(tree.command) }));
      return { trees: (await Promise.all(shown)).map(layeredTreeToMessage) };
    },

    async keepLayer({ sessionId, paths, sha256 }, { signal }) {
      const session = await manager.get(sessionId);
      const keep = () => keepFromLayer(session, { paths, sha256, signal });
      return keptTreesToMessage(await session.acts.during("a keep", keep));
    },

    async dropLayer({ sessionId, paths }) {
      const session = await manager.get(sessionId);
      return { paths: [...(await session.acts.during("a drop", () => dropFromLayer(session, paths)))] };
    },

    async applyProposal({ sessionId, proposalId, hunks, note, expectedBases }, { signal }) {
      const session = await manager.get(sessionId);
      const review = reviewFromWire(create(ProposalReviewSchema, { proposalId, hunks, note }));
      const bases = new Map<string, string>();
      for (const { path, sha256 } of expectedBases) {
        if (bases.has(path)) throw new ServiceError("invalid_argument", `expected_bases names ${path} twice.`);
        bases.set(path, optionalDigest(sha256));
      }
      const { changeSetId, files, alreadyApplied } = await session.acts.during("an apply", () =>
        applyProposal(session, review, { expectedBases: bases, signal }),
      );
      return { changeSetId, files: files.map(appliedFileToMessage), alreadyApplied };
    },
  };
}
