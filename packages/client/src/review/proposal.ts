import {
  type AppliedFile as AppliedFileMessage,
  ChangeOperation as ChangeOperationMessage,
  type ProposedChange as ProposedChangeMessage,
  type ProposedChanges,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

export type ChangeOperation = "create" | "update" | "delete";

/** Changes shown to the user, none of them written. */
export interface Proposal {
  readonly proposalId: string;
  readonly toolCallId: string;
  readonly changes: readonly ProposedChange[];
  readonly hasConflicts: boolean;
  readonly warnings: readonly string[];
}

export interface ProposedChange {
  /** Within the proposal. */
  readonly id: string;
  /** Relative to the workspace, with forward slashes. */
  readonly path: string;
  readonly operation: ChangeOperation;
  readonly unifiedDiff: string;
  /** The whole text after the change; empty for a delete, and when only the blob has it. */
  readonly newContent: string;
  /** SHA-256 of the blob with the new text, when `newContent` does not hold it. */
  readonly newContentBlob: string | undefined;
  /** SHA-256 of the bytes the change is based on; empty when the file must not exist. */
  readonly baseSha256: string;
  /** SHA-256 of the blob with the text the change is based on; undefined when it was not kept, or there was none. */
  readonly baseBlob: string | undefined;
  readonly conflict: boolean;
  readonly warning: string;
  readonly hunks: readonly Hunk[];
}

export interface Hunk {
  readonly id: string;
  readonly oldRange: LineRange;
  readonly newRange: LineRange;
  /** With their leading ' ', '+' or '-'. */
  readonly lines: readonly string[];
}

export interface LineRange {
  /** 1-based; the line before when `count` is 0. */
  readonly start: number;
  readonly count: number;
}

/** A file as a change set left it. */
export interface AppliedFile {
  readonly path: string;
  readonly operation: ChangeOperation;
  /** undefined: the file did not exist. */
  readonly beforeSha256: string | undefined;
  /** undefined: the file is gone. */
  readonly afterSha256: string | undefined;
}

export function proposalFromMessage(message: ProposedChanges): Proposal {
  return {
    proposalId: message.proposalId,
    toolCallId: message.toolCallId,
    changes: message.changes.map(proposedChangeFromMessage),
    hasConflicts: message.hasConflicts,
    warnings: message.warnings,
  };
}

export function proposedChangeFromMessage(message: ProposedChangeMessage): ProposedChange {
  return {
    id: message.id,
    path: message.path,
    operation: operationFromMessage(message.operation),
    unifiedDiff: message.unifiedDiff,
    newContent: message.newContent,
    newContentBlob: message.newContentBlob?.sha256,
    baseSha256: message.baseSha256,
    baseBlob: message.baseBlob?.sha256,
    conflict: message.conflict,
    warning: message.warning,
    hunks: message.hunks.map((hunk) => ({
      id: hunk.id,
      oldRange: { start: hunk.oldRange?.start ?? 0, count: hunk.oldRange?.count ?? 0 },
      newRange: { start: hunk.newRange?.start ?? 0, count: hunk.newRange?.count ?? 0 },
      lines: hunk.lines,
    })),
  };
}

export function appliedFileFromMessage(message: AppliedFileMessage): AppliedFile {
  return {
    path: message.path,
    operation: operationFromMessage(message.operation),
    beforeSha256: message.beforeSha256 === "" ? undefined : message.beforeSha256,
    afterSha256: message.afterSha256 === "" ? undefined : message.afterSha256,
  };
}

/** The fields of an `AppliedFile` message. */
export function appliedFileFields(file: AppliedFile) {
  return {
    path: file.path,
    operation: operationMessages[file.operation],
    beforeSha256: file.beforeSha256 ?? "",
    afterSha256: file.afterSha256 ?? "",
  };
}

const operationMessages: Record<ChangeOperation, ChangeOperationMessage> = {
  create: ChangeOperationMessage.CREATE,
  update: ChangeOperationMessage.UPDATE,
  delete: ChangeOperationMessage.DELETE,
};

function operationFromMessage(operation: ChangeOperationMessage): ChangeOperation {
  switch (operation) {
    case ChangeOperationMessage.CREATE:
      return "create";
    case ChangeOperationMessage.DELETE:
      return "delete";
    default:
      return "update";
  }
}
