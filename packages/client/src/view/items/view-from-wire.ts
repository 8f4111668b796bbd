import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type ClientRequestResolved,
  type InvokeEvent,
  type ProposalReview,
  RequestResolution,
  type ToolResult,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { answerWords, scopeWords } from "@gennai/protocol/model/governance/question";
import { failureClassWords, verificationWords } from "@gennai/protocol/model/governance/tool-outcome";
import { type AppliedFile, blobFromMessage, hunkDecisionWords } from "@gennai/protocol/model/session/proposal";
import type { ConfirmationReplyView, ProposalReviewView, RequestState, ToolResultView } from "./view-item.ts";

export function timeOf(event: InvokeEvent): Date | undefined {
  return event.time === undefined ? undefined : timestampDate(event.time);
}

export function toolResultView(message: ToolResult): ToolResultView {
  return {
    output: message.output,
    error: message.error,
    truncated: message.truncated,
    outputBlob: message.outputBlob === undefined ? undefined : blobFromMessage(message.outputBlob),
    images: message.images.map(blobFromMessage),
    verification: verificationWords.fromMessage(message.verification),
    exitCode: message.exitCode,
    failureClass: failureClassWords.fromMessage(message.failureClass) ?? "",
  };
}

export function requestState(resolution: RequestResolution): RequestState {
  switch (resolution) {
    case RequestResolution.ANSWERED:
      return "answered";
    case RequestResolution.TIMEOUT:
      return "timeout";
    default:
      return "cancelled";
  }
}

/** The answer to a question of the gate; undefined if the server does not say. */
export function confirmationReply({ answer, scope, user }: ClientRequestResolved): ConfirmationReplyView | undefined {
  const word = answerWords.fromMessage(answer);
  return word === undefined ? undefined : { answer: word, scope: scopeWords.fromMessage(scope), user };
}

export function reviewView(message: ProposalReview): ProposalReviewView {
  return {
    hunks: message.hunks.map(({ changeId, hunkId, decision }) => ({
      changeId,
      hunkId,
      decision: hunkDecisionWords.fromMessage(decision) ?? "undo",
    })),
    note: message.note,
  };
}

/** Files of two steps of one change set: each from its state before the first step to its state after the last. */
export function joinFiles(earlier: readonly AppliedFile[], later: readonly AppliedFile[]): readonly AppliedFile[] {
  const files = new Map(earlier.map((file) => [file.path, file]));
  for (const file of later) {
    const before = files.get(file.path);
    if (before === undefined) {
      files.set(file.path, file);
      continue;
    }
    const gone = file.operation === "delete" ? "delete" : undefined;
    const fresh = before.beforeSha256 === undefined ? "create" : "update";
    files.set(file.path, { ...file, beforeSha256: before.beforeSha256, operation: gone ?? fresh });
  }
  return [...files.values()];
}
