import { create } from "@bufbuild/protobuf";
import { ServiceError } from "@gennai/machine/service-error";
import type { ApplyProposalRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ProposalReviewSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { optionalDigest } from "@gennai/protocol/model/checked-field";
import { appliedFileToMessage } from "@gennai/protocol/model/session/proposal";
import { applyProposal } from "@gennai/sessions/proposal/apply-proposal";
import type { Session } from "@gennai/sessions/session/session";
import { reviewFromWire } from "../wire/events/review-wire.ts";

export async function applyProposalRpc(session: Session, request: ApplyProposalRequest, signal: AbortSignal) {
  const { proposalId, hunks, note } = request;
  const review = reviewFromWire(create(ProposalReviewSchema, { proposalId, hunks, note }));
  const expectedBases = new Map<string, string>();
  for (const { path, sha256 } of request.expectedBases) {
    if (expectedBases.has(path)) throw new ServiceError("invalid_argument", `expected_bases names ${path} twice.`);
    expectedBases.set(path, optionalDigest(sha256));
  }
  const { changeSetId, files, alreadyApplied } = await session.acts.during("an apply", () =>
    applyProposal(session, review, { expectedBases, signal }),
  );
  return { changeSetId, files: files.map(appliedFileToMessage), alreadyApplied };
}
