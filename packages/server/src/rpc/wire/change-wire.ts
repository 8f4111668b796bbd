import type { FileChangeRecord, ProposalReview, ProposedChange } from "@gennai/agent/proposal";
import type { BlobRef } from "@gennai/agent/session-event";
import {
  type AppliedFile,
  ChangeOperation,
  HunkDecision,
  type ProposalReview as WireReview,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { digest } from "@gennai/protocol/model/checked-field";
import { EnumWords } from "@gennai/protocol/model/enum-words";

const operations = new EnumWords({
  create: ChangeOperation.CREATE,
  update: ChangeOperation.UPDATE,
  delete: ChangeOperation.DELETE,
});

const decisions = new EnumWords({
  keep: HunkDecision.KEEP,
  undo: HunkDecision.UNDO,
  edited: HunkDecision.EDITED,
});

export function blobToWire(blob: BlobRef) {
  return { sha256: blob.sha256, size: BigInt(blob.size), mediaType: blob.mediaType };
}

export function changeToWire(change: ProposedChange) {
  const { newContentBlob, baseBlob, hunks, operation, ...rest } = change;
  return {
    ...rest,
    operation: operations.toMessage(operation),
    hunks: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] })),
    ...(newContentBlob === undefined ? {} : { newContentBlob: blobToWire(newContentBlob) }),
    ...(baseBlob === undefined ? {} : { baseBlob: blobToWire(baseBlob) }),
  };
}

export function fileToWire(file: Pick<FileChangeRecord, "path" | "operation" | "beforeSha256" | "afterSha256">) {
  return {
    path: file.path,
    operation: operations.toMessage(file.operation),
    beforeSha256: file.beforeSha256 ?? "",
    afterSha256: file.afterSha256 ?? "",
  };
}

export function reviewToWire(review: ProposalReview) {
  return {
    proposalId: review.proposalId,
    note: review.note,
    hunks: review.hunks.map((hunk) => ({ ...hunk, decision: decisions.toMessage(hunk.decision) })),
  };
}

export function fileFromWire(file: AppliedFile): FileChangeRecord {
  const operation = operations.checkedFromMessage(file.operation, "files[].operation");
  return {
    path: file.path,
    operation,
    ...(file.beforeSha256 === "" ? {} : { beforeSha256: digest(file.beforeSha256) }),
    ...(file.afterSha256 === "" ? {} : { afterSha256: digest(file.afterSha256) }),
  };
}

export function reviewFromWire(review: WireReview): ProposalReview {
  return {
    proposalId: review.proposalId,
    note: review.note,
    hunks: review.hunks.map(({ changeId, hunkId, decision, editedText, note }) => ({
      changeId,
      hunkId,
      decision: decisions.checkedFromMessage(decision, "hunks[].decision"),
      editedText,
      note,
    })),
  };
}
