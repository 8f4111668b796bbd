import type { SessionEvent } from "@gennai/agent/events/session-event";
import { skippedFileToMessage } from "@gennai/protocol/model/session/checkpoint";
import { appliedFileToMessage } from "@gennai/protocol/model/session/proposal";

type CheckpointEvent = Extract<
  SessionEvent,
  { readonly type: "checkpoint-taken" | "checkpoint-closed" | "checkpoint-restoring" | "checkpoint-restored" }
>;

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
          skipped: skipped.map(skippedFileToMessage),
          interrupted,
        },
      };
    }
  }
}
