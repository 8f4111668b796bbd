import type { FileChangeRecord, ProposalReview } from "@gennai/agent/events/proposal";
import type { Redactor } from "@gennai/governance/redaction";
import { ServiceError } from "@gennai/machine/service-error";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { Session } from "../session/session.ts";
import type { SessionState } from "../session/state/session-state.ts";

/** Maximum size of a file that a client changes by a proposal; bytes. */
const maxBytes = 64 * 1024 * 1024;

export interface AppliedReport {
  readonly proposalId: string;
  readonly files: readonly FileChangeRecord[];
}

/** Records a review that fits its proposal: existing changes and hunks, each decided once. Throws `ServiceError`. */
export async function recordReview(session: Session, review: ProposalReview): Promise<void> {
  await session.catchUp();
  const { state, services } = session;
  proposalOf(state, review.proposalId);
  if (state.reviewedProposals.has(review.proposalId)) {
    throw new ServiceError("already_exists", "This proposal was reviewed already; the first review counts.");
  }
  const proposal = checkDecisions(state, review);
  await keepMovedOn(session, proposal, review);
  const redacted = await redactedReview(review, services.redactor);
  await session.decided([{ type: "proposal-review", review: redacted }], "review", { review: redacted });
}

/** Stores what is there now of the files that a client merges what was kept with, so that an undo has it. */
async function keepMovedOn(
  { workspace, services }: Session,
  { changes }: Proposal,
  { hunks }: ProposalReview,
): Promise<void> {
  const kept = new Set(hunks.filter(({ decision }) => decision !== "undo").map(({ changeId }) => changeId));
  for (const change of changes) {
    if (change.operation !== "update" || !kept.has(change.id)) continue;
    const path = await workspace.resolve(change.path, { isRecorded: true });
    const now = (await workspace.stat(path))?.kind === "file" ? await workspace.read(path, { maxBytes }) : undefined;
    if (now === undefined || now.sha256 === change.baseSha256) continue;
    await services.blobs.put(now.bytes, "application/octet-stream");
  }
}

/** Records what a client wrote after a review. The server verifies it on disk first. */
export async function recordApplied(session: Session, report: AppliedReport): Promise<void> {
  await session.catchUp();
  const files = await verifyApplied(session, report);
  session.seen.storeWritten(files);
  const { proposalId } = report;
  const applied = { type: "change-set-applied", changeSetId: `proposal-${proposalId}`, files, proposalId } as const;
  await session.decided([applied], "applied", { proposalId }, files);
}

/** The proposal, if the decisions refer to its changes and hunks, each decided once. */
export function checkDecisions(state: SessionState, review: ProposalReview): Proposal {
  const proposal = proposalOf(state, review.proposalId);
  const seen = new Set<string>();
  for (const { changeId, hunkId } of review.hunks) {
    const change = proposal.changes.find(({ id }) => id === changeId);
    if (change === undefined) {
      throw new ServiceError("invalid_argument", `The proposal has no change ${JSON.stringify(changeId)}.`);
    }
    if (hunkId !== "" && !change.hunks.some(({ id }) => id === hunkId)) {
      throw new ServiceError("invalid_argument", `Change ${changeId} has no hunk ${JSON.stringify(hunkId)}.`);
    }
    const key = JSON.stringify([changeId, hunkId]);
    if (seen.has(key)) throw new ServiceError("invalid_argument", `Change ${changeId} has two decisions for one hunk.`);
    seen.add(key);
  }
  return proposal;
}

/** The user's text reaches the model and the ledger, so it is masked; the client applies its own unmasked text. */
export async function redactedReview(review: ProposalReview, redactor: Redactor): Promise<ProposalReview> {
  const hunks = review.hunks.map(async (hunk) => ({
    ...hunk,
    editedText: await redactor.redact(hunk.editedText),
    note: await redactor.redact(hunk.note),
  }));
  return { ...review, hunks: await Promise.all(hunks), note: await redactor.redact(review.note) };
}

/** The files of a report as they are on disk now. Throws if the client reports something that is not there. */
async function verifyApplied(
  { state, workspace, seen }: Session,
  report: AppliedReport,
): Promise<readonly FileChangeRecord[]> {
  const proposal = proposalOf(state, report.proposalId);
  if (state.appliedProposals.has(report.proposalId)) {
    throw new ServiceError("already_exists", "This proposal was applied already.");
  }
  if (report.files.length === 0) throw new ServiceError("invalid_argument", "The report names no file.");
  for (const file of report.files) {
    const change = proposal.changes.find(({ path }) => path === file.path);
    if (change === undefined || change.operation !== file.operation) {
      throw new ServiceError("invalid_argument", `The proposal has no ${file.operation} of ${file.path}.`);
    }
    // An update may be merged with what its user changed since.
    if (change.operation !== "update" && (file.beforeSha256 ?? "") !== change.baseSha256) {
      throw new ServiceError("invalid_argument", `${file.path} was not applied to the text the proposal is based on.`);
    }
    const path = await workspace.resolve(file.path, { isRecorded: true });
    const stat = await workspace.stat(path);
    const actual = stat === undefined ? undefined : await workspace.read(path, { maxBytes: maxBytes });
    if (actual !== undefined) seen.keep(actual.sha256, actual.bytes);
    if (actual?.sha256 !== file.afterSha256) {
      throw new ServiceError("failed_precondition", `${file.path} is not on disk as the report says.`, {
        hint: "Save the file and report again.",
      });
    }
  }
  return report.files;
}

function proposalOf(state: SessionState, proposalId: string): Proposal {
  const proposal = state.proposals.get(proposalId);
  if (proposal === undefined) throw new ServiceError("not_found", "This session has no such proposal.");
  return proposal;
}
