import type { FileChangeRecord, ProposalReview, ProposedChange } from "@gennai/agent/proposal";
import type { BlobRef } from "@gennai/agent/session-event";
import {
  type AppliedFile,
  ChangeOperation,
  HunkDecision,
  type ProposalReview as WireReview,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { digest, keyOf } from "./checked-field.ts";

const operations = {
  create: ChangeOperation.CREATE,
  update: ChangeOperation.UPDATE,
  delete: ChangeOperation.DELETE,
} as const;

const decisions = { keep: HunkDecision.KEEP, undo: HunkDecision.UNDO, edited: HunkDecision.EDITED } as const;

export function blobToWire(blob: BlobRef) {
  return { sha256: blob.sha256, size: BigInt(blob.size), mediaType: blob.mediaType };
}

export function changeToWire(change: ProposedChange) {
  const { newContentBlob, baseBlob, hunks, operation, ...rest } = change;
  return {
    ...rest,
    operation: operations[operation],
    hunks: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] })),
    ...(newContentBlob === undefined ? {} : { newContentBlob: blobToWire(newContentBlob) }),
    ...(baseBlob === undefined ? {} : { baseBlob: blobToWire(baseBlob) }),
  };
}

export function fileToWire(file: Pick<FileChangeRecord, "path" | "operation" | "beforeSha256" | "afterSha256">) {
  return {
    path: file.path,
    operation: operations[file.operation],
    beforeSha256: file.beforeSha256 ?? "",
    afterSha256: file.afterSha256 ?? "",
  };
}

export function reviewToWire(review: ProposalReview) {
  return {
    proposalId: review.proposalId,
    note: review.note,
    hunks: review.hunks.map((hunk) => ({ ...hunk, decision: decisions[hunk.decision] })),
  };
}

export function fileFromWire(file: AppliedFile): FileChangeRecord {
  const operation = keyOf(operations, file.operation, "files[].operation");
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
      decision: keyOf(decisions, decision, "hunks[].decision"),
      editedText,
      note,
    })),
  };
}
