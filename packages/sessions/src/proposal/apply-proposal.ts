import type { FileChangeRecord, ProposalReview } from "@gennai/agent/events/proposal";
import type { FileWrite } from "@gennai/governance/effect";
import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import { forPeople, meet, switchesLimit } from "@gennai/governance/limits/limits";
import { createLimitsPolicy } from "@gennai/governance/limits/limits-policy";
import { needingTwoPersons } from "@gennai/governance/limits/two-persons";
import type { PolicyInput } from "@gennai/governance/policy";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { Verdict } from "@gennai/governance/verdict";
import { ServiceError } from "@gennai/machine/service-error";
import { digestOf } from "@gennai/protocol/digest";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { sessionBridge } from "../bridge/session-bridge.ts";
import { workspacePolicies } from "../policies/call-policies.ts";
import { refusedAct } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { SessionState } from "../session/state/session-state.ts";
import { treeInUse, WorkingTreeClaim } from "../session/working-tree-claim.ts";
import { lostEditor } from "../tools/lost-editor.ts";
import { appliedRecord } from "../tools/writing/change/planned-change.ts";
import { checkDecisions, redactedReview } from "./proposal-review.ts";
import { type ReviewedFile, reviewedFiles } from "./reviewed-files.ts";

export interface AppliedProposal {
  /** Empty if nothing was kept. */
  readonly changeSetId: string;
  readonly files: readonly FileChangeRecord[];
  /** These decisions were already applied. */
  readonly alreadyApplied: boolean;
}

/**
 * Applies a user's decisions about a proposal: all kept files in one atomic step, each checked against the bytes that the
 * proposal is based on. The review is durable before anything is written, so that the same decisions can be sent again after a
 * failure: what is already done is detected. Throws `ServiceError` that names the conflicting file.
 */
export async function applyProposal(
  session: Session,
  review: ProposalReview,
  options: { readonly expectedBases: ReadonlyMap<string, string>; readonly signal: AbortSignal },
): Promise<AppliedProposal> {
  const lock = session.services.locks.tryAcquire(`proposal ${session.id} ${review.proposalId}`, "applies a proposal");
  if (lock.type === "held") {
    throw new ServiceError("unavailable", "This proposal is being applied right now.", { reason: "busy" });
  }
  using _held = lock.lock;
  await session.catchUp();
  const { state } = session;
  const proposal = checkDecisions(state, review);
  refuseOtherBases(proposal, options.expectedBases);
  const recorded = await redactedReview(review, session.services.redactor);
  const isAgain = refuseOtherReview(state, recorded);
  const changeSetId = `proposal-${review.proposalId}`;
  if (state.appliedProposals.has(review.proposalId)) {
    return { changeSetId, files: state.changeSets.get(changeSetId)?.files ?? [], alreadyApplied: true };
  }

  const { workspace, services } = session;
  const ports = { workspace, blobs: services.blobs, signal: options.signal };
  const files = await reviewedFiles(proposal, review, ports, state.reviewedProposals.get(review.proposalId)?.onto);
  const write = await checkPersonsWrite(session, files);
  // Written, but the server ended before it could record this: several files are written atomically. If only permission bits
  // change, the bytes cannot show it.
  const isWritten =
    isAgain &&
    files.some(({ state }) => state === "written") &&
    files.every(({ state, beforeSha256, afterSha256 }) => state === "written" || beforeSha256 === afterSha256);
  if (!isWritten) {
    refuseMovedOn(files);
    await refuseUnsaved(session, files, options.signal);
  }
  for (const { before } of files) {
    if (before !== undefined && !isWritten) await services.blobs.put(before.bytes, "application/octet-stream");
  }
  if (!isAgain) {
    const begun = { ...recorded, ...mergedIn(proposal, files) };
    await session.decided([{ type: "proposal-review", review: begun }], "review", { review: recorded });
  }
  if (files.length === 0) return { changeSetId: "", files: [], alreadyApplied: isAgain };
  const changed = isWritten ? files.map(changeRecord) : await writeFiles(session, files, write);
  for (const { change, afterSha256 } of files) {
    if (change.operation !== "delete" && afterSha256 !== undefined) session.seen.keep(afterSha256, change.bytes);
  }
  session.seen.storeWritten(changed);
  const applied = { type: "change-set-applied", changeSetId, files: changed, proposalId: review.proposalId } as const;
  await session.decided([applied], "applied", { proposalId: review.proposalId, by: "server" }, changed);
  return { changeSetId, files: changed, alreadyApplied: isWritten };
}

/** For a server that ends before it could record what it wrote: a merged file does not tell what was there. */
function mergedIn({ changes }: Proposal, files: readonly ReviewedFile[]): Pick<ProposalReview, "onto"> {
  const onto = files.flatMap(({ name, before, change }) => {
    const { baseSha256 } = changes.find(({ path }) => path === name) ?? {};
    const isMerged = before !== undefined && change.operation === "update" && before.sha256 !== baseSha256;
    return isMerged ? { path: name, sha256: before.sha256 } : [];
  });
  return onto.length === 0 ? {} : { onto };
}

/** True if the proposal was already reviewed with the same decisions. Throws if it was with others. */
function refuseOtherReview(state: SessionState, review: ProposalReview): boolean {
  const first = state.reviewedProposals.get(review.proposalId);
  if (first !== undefined && sameDecisions(first) === sameDecisions(review)) return true;
  if (first === undefined && !state.appliedProposals.has(review.proposalId)) return false;
  throw new ServiceError("already_exists", "This proposal was decided about already; the first review counts.");
}

/** Independent of their order. */
function sameDecisions({ hunks, note }: ProposalReview): string {
  const inOrder = hunks
    .map(({ changeId, hunkId, decision, editedText, note: why }) => [changeId, hunkId, decision, editedText, why])
    .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  return digestOf({ hunks: inOrder, note });
}

function refuseOtherBases(proposal: Proposal, expected: ReadonlyMap<string, string>): void {
  for (const [path, sha256] of expected) {
    const change = proposal.changes.find((each) => each.path === path);
    if (change === undefined) {
      throw new ServiceError("invalid_argument", `The proposal has no change of ${JSON.stringify(path)}.`);
    }
    if (change.baseSha256 !== sha256) {
      throw new ServiceError("failed_precondition", `${path} was reviewed against another text than was proposed on.`, {
        reason: "stale_file",
        hint: "Load the proposal again.",
      });
    }
  }
}

function refuseMovedOn(files: readonly ReviewedFile[]): void {
  const moved = files.filter(({ state }) => state !== "ready").map(({ name }) => name);
  if (moved.length === 0) return;
  throw new ServiceError(
    "failed_precondition",
    `Nothing was applied: ${moved.join(", ")} changed since the proposal was made.`,
    { reason: "stale_file", hint: "Ask for the change again, or leave these files out." },
  );
}

/** Throws if an attached editor has unsaved changes: they would be lost, or would bring the old text back. */
async function refuseUnsaved(session: Session, files: readonly ReviewedFile[], signal: AbortSignal): Promise<void> {
  const { clients, requests, settings } = session;
  const bridge = sessionBridge({ clients, requests, turnId: () => "", settings: () => settings });
  if (!bridge.can("file-read")) return;
  const unsaved: string[] = [];
  const look = async ({ name }: ReviewedFile): Promise<void> => {
    const request = { path: name, offset: 0, limit: 1, reason: "Are there unsaved changes?" };
    try {
      if ((await bridge.readFile(request, { signal })).dirty) unsaved.push(name);
    } catch (error) {
      // An editor without this file, or one that does not answer, has no known unsaved changes.
      if (error instanceof ToolFailure && (error.code === "not_found" || lostEditor(error))) return;
      throw error;
    }
  };
  for (let at = 0; at < files.length; at += atOnce) await Promise.all(files.slice(at, at + atOnce).map(look));
  if (unsaved.length === 0) return;
  throw new ServiceError(
    "failed_precondition",
    `Nothing was applied: ${unsaved.sort().join(", ")} has unsaved changes in an editor.`,
    { reason: "unsaved_changes", hint: "Save or discard them in the editor, then apply again." },
  );
}

/** Editors asked in parallel: enough to hide the latency, few enough not to overload them. */
const atOnce = 8;

async function writeFiles(
  session: Session,
  files: readonly ReviewedFile[],
  write: UserWrite,
): Promise<readonly FileChangeRecord[]> {
  using tree = new WorkingTreeClaim(session.services.locks, session.workspace.place, session.id);
  const claim = await tree.claim();
  // If a turn of the same session holds it, only the base hashes decide, as for the editor.
  if (claim.type === "held" && tree.look().type === "held") throw treeInUse("Nothing was applied", claim.by);
  write.assertStillAllowed();
  const changes = files.map(({ change }) => change);
  return (await session.workspace.apply(changes, { readOnlyToo: true })).map(appliedRecord);
}

function changeRecord({ name, change, beforeSha256, afterSha256 }: ReviewedFile): FileChangeRecord {
  return { path: name, operation: change.operation, beforeSha256, afterSha256 };
}

/** A write that a user decided on and that the rules allow. */
interface UserWrite {
  /** Checks the emergency controls again, just before the write. Throws `ServiceError`. */
  assertStillAllowed(): void;
}

/** Maximum milliseconds for a policy. */
const policyTimeoutMs = 5_000;

/**
 * Checks the rules for a user who applies a proposal: emergency controls, rule files, and rules about paths and content. A
 * verdict "ask" is fulfilled, because a user decides here; a deny cannot be overruled. Rules about the agent itself (its
 * capabilities, branch and intent) applied when it proposed. Throws `ServiceError` with the code of the rule.
 */
async function checkPersonsWrite(session: Session, files: readonly ReviewedFile[]): Promise<UserWrite> {
  const { services, workspace } = session;
  const input: PolicyInput = {
    callId: "apply-proposal",
    toolName: "ApplyProposal",
    args: {},
    access: "change",
    analysis: { statement: "Apply a proposal", effects: files.map(writeOf) },
    sessionId: session.id,
    turnId: "",
  };
  await workspace.syncControl();
  const limits = forPeople((await services.loadLimits()).current());
  const current = () => meet(limits, [switchesLimit(services.emergency.current())]);
  const own = [createLimitsPolicy({ current }), ...(await workspacePolicies(session))];
  // Who applies is one person.
  const policies = needingTwoPersons(own, { current, second: "unavailable" });
  const { signal } = new AbortController();
  refuseDenied((await runPolicies(policies, input, { timeoutMs: policyTimeoutMs, signal })).verdict);
  return { assertStillAllowed: () => refuseDenied(services.emergency.standingCheck.check(input)) };
}

function writeOf({ path, change, beforeSha256, text }: ReviewedFile): FileWrite {
  return {
    type: "write",
    operation: change.operation,
    path,
    // `applyProposal` itself compares the current content: it names every file that changed, and recognises its own writes.
    base: beforeSha256 === undefined ? undefined : { source: "disk", sha256: beforeSha256 },
    current: beforeSha256,
    ...(text === undefined ? {} : { content: text }),
  };
}

function refuseDenied(verdict: Verdict): void {
  if (verdict.type === "deny") throw refusedAct("Nothing was applied", verdict.finding);
}
