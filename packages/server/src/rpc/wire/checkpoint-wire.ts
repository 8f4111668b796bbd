import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { SessionEvent, SkippedFile } from "@gennai/agent/session-event";
import { CheckpointKind, type CheckpointSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { SkipReason } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { appliedFileToMessage } from "@gennai/protocol/model/proposal";
import type { Checkpoint } from "@gennai/sessions/restore/list-checkpoints";

type CheckpointEvent = Extract<
  SessionEvent,
  { readonly type: "checkpoint-taken" | "checkpoint-closed" | "checkpoint-restoring" | "checkpoint-restored" }
>;

const kinds = {
  turn: CheckpointKind.TURN,
  command: CheckpointKind.COMMAND,
  restore: CheckpointKind.RESTORE,
} as const;

const reasons = {
  changed_since: SkipReason.CHANGED_SINCE,
  changed_between: SkipReason.CHANGED_BETWEEN,
  not_certain: SkipReason.NOT_CERTAIN,
  not_restored: SkipReason.NOT_RESTORED,
} as const;

export function checkpointEventToWire(event: CheckpointEvent) {
  switch (event.type) {
    case "checkpoint-taken": {
      const { checkpointId, toolCallId, toolName } = event;
      return { case: "checkpointTaken" as const, value: { checkpointId, toolCallId, toolName } };
    }
    case "checkpoint-closed": {
      const { checkpointId, files, more } = event;
      return {
        case: "checkpointClosed" as const,
        value: { checkpointId, files: files.map(appliedFileToMessage), moreFiles: more },
      };
    }
    case "checkpoint-restoring": {
      const { checkpointId, restoreId, files } = event;
      return {
        case: "checkpointRestoring" as const,
        value: { checkpointId, restoreId, files: files.map(appliedFileToMessage) },
      };
    }
    case "checkpoint-restored": {
      const { checkpointId, restoreId, files, skipped, interrupted = false } = event;
      return {
        case: "checkpointRestored" as const,
        value: {
          checkpointId,
          restoreId,
          files: files.map(appliedFileToMessage),
          skipped: skipped.map(skippedToWire),
          interrupted,
        },
      };
    }
  }
}

export function checkpointToWire(checkpoint: Checkpoint): MessageInitShape<typeof CheckpointSchema> {
  const { checkpointId, kind, turnNumber, turnId, time, title, files, more, kept } = checkpoint;
  return {
    checkpointId,
    turnNumber,
    turnId,
    title,
    kept,
    kind: kinds[kind],
    time: timestampFromMs(time),
    files: files.slice(0, maxFiles).map(appliedFileToMessage),
    moreFiles: more + Math.max(0, files.length - maxFiles),
  };
}

export function skippedToWire({ path, reason }: SkippedFile) {
  return { path, reason: reasons[reason] };
}

/** Files of one checkpoint in a list. */
const maxFiles = 200;
