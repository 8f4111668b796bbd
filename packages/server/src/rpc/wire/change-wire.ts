import type { FileChangeRecord, ProposalReview, ProposedChange } from "@gennai/agent/proposal";
import type { BlobRef } from "@gennai/agent/session-event";
import {
  type AppliedFile,
  ChangeOperation,
  HunkDecision,
  type ProposalReview as WireReview,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ServiceError } from "../../service-error.ts";

const operations = {
  create: ChangeOperation.CREATE,
  update: ChangeOperation.UPDATE,
  delete: ChangeOperation.DELETE,
} as const;

const decisions = { keep: HunkDecision.KEEP, undo: HunkDecision.UNDO, edited: HunkDecision.EDITED } as const;

export function blobRef(blob: BlobRef) {
  return { sha256: blob.sha256, size: BigInt(blob.size), mediaType: blob.mediaType };
}

export function changeToWire(change: ProposedChange) {
  const { newContentBlob, baseBlob, hunks, operation, ...rest } = change;
  return {
    ...rest,
    operation: operations[operation],
    hunks: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] })),
    ...(newContentBlob === undefined ? {} : { newContentBlob: blobRef(newContentBlob) }),
    ...(baseBlob === undefined ? {} : { baseBlob: blobRef(baseBlob) }),
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

export function digest(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new ServiceError("invalid_argument", "A SHA-256 must be 64 lower-case hexadecimal digits.");
}

/** The key with this value; enums are open on the wire, so any number may arrive. */
export function keyOf<Key extends string>(table: Readonly<Record<Key, number>>, value: number, field: string): Key {
  for (const key in table) if (table[key] === value) return key;
  throw new ServiceError("invalid_argument", `${field} has no meaning: ${value}.`);
}
