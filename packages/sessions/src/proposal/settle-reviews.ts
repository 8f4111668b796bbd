import type { ProposalReview } from "@gennai/agent/events/proposal";
import { mergedBytes } from "@gennai/protocol/diff/three-way-diff";
import type { Proposal, ProposedChange } from "@gennai/protocol/model/session/proposal";
import { type FileState, isSameState, ordinaryMode, type StagedFile } from "@gennai/shell/proposal/staged-file";
import type { StagedTree } from "@gennai/shell/proposal/staged-tree";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { SessionState } from "../session/state/session-state.ts";
import { afterReview, decisionOf, keepsMode } from "./reviewed-files.ts";

/** Beginning of masked text: the user's original text there is unknown. */
const masked = "[REDACTED";

/**
 * Applies the newest review in the session's log: what the user refused is removed from the staged tree, and what was kept
 * stays until the workspace has it; what was kept and undone counts as refused. Each proposal contains everything staged, so
 * reviews of older ones no longer matter.
 * Repeating it after a kill gives the same result.
 */
export async function settleReviews(
  tree: StagedTree,
  { proposals, reviewedProposals, undoneProposals }: Settling,
  blobs: Pick<BlobStore, "get">,
): Promise<void> {
  const proposalId = tree.open.findLast((one) => proposals.has(one) && reviewedProposals.has(one)) ?? "";
  const [proposal, review] = [proposals.get(proposalId), reviewedProposals.get(proposalId)];
  if (proposal === undefined || review === undefined) return;
  const wanted = await wantedStates(tree, {
    proposal,
    review: undoneProposals.has(proposalId) ? allRefused(review) : review,
    blobs,
  });
  // No `await` from here on, so that nothing changes the tree in between.
  const files = [...tree.files.values()].map((file) => {
    const change = wanted.get(file.path);
    return change === undefined ? file : settled(tree, file, change);
  });
  tree.replace(files, { open: tree.open.slice(tree.open.indexOf(proposalId) + 1), proposed: "" });
}

type Settling = Pick<SessionState, "proposals" | "reviewedProposals" | "undoneProposals">;

function allRefused(review: ProposalReview): ProposalReview {
  return { ...review, hunks: review.hunks.map((hunk) => ({ ...hunk, decision: "undo" })) };
}

interface WantedState {
  /** What was proposed, and the result of the review; undefined for no file. */
  readonly proposed: Uint8Array | undefined;
  readonly reviewed: Uint8Array | undefined;
  /** Permission bits that were refused: the file's earlier ones stay. */
  readonly refusedMode: number | undefined;
}

async function wantedStates(
  tree: StagedTree,
  {
    proposal,
    review,
    blobs,
  }: { readonly proposal: Proposal; readonly review: ProposalReview; readonly blobs: Pick<BlobStore, "get"> },
): Promise<ReadonlyMap<string, WantedState>> {
  const wanted = new Map<string, WantedState>();
  for (const change of proposal.changes) {
    if (!tree.files.has(change.path)) continue;
    const base = change.baseBlob === undefined ? undefined : await blobs.get(change.baseBlob.sha256);
    const isBaseGone = base === undefined && change.baseSha256 !== "";
    const proposed = change.newContentBlob === undefined ? undefined : await blobs.get(change.newContentBlob.sha256);
    const isNewGone = proposed === undefined && change.operation !== "delete";
    if (isBaseGone || isNewGone) continue;
    const decisions = decisionsOf(change, review);
    const after = await afterReview(change, base, { decisions, blobs });
    wanted.set(change.path, {
      proposed,
      reviewed: after === undefined ? base : after.bytes,
      refusedMode: keepsMode(change, decisions) ? undefined : change.newMode,
    });
  }
  return wanted;
}

function decisionsOf(change: ProposedChange, { hunks }: ProposalReview) {
  const own = hunks.filter(({ changeId }) => changeId === change.id);
  return new Map(
    own.map((hunk) => [
      hunk.hunkId,
      hunk.decision === "edited" && hunk.editedText.includes(masked) ? ({ type: "undo" } as const) : decisionOf(hunk),
    ]),
  );
}

function settled(tree: StagedTree, file: StagedFile, { proposed, reviewed, refusedMode }: WantedState): StagedFile {
  const unchanged = file.base?.mode ?? ordinaryMode;
  const staged = file.staged?.mode ?? unchanged;
  const mode = staged === refusedMode ? unchanged : staged;
  const was = proposed === undefined ? undefined : tree.store({ bytes: proposed, mode }).sha256;
  if (file.staged?.sha256 === was)
    return withStaged(file, reviewed === undefined ? null : tree.store({ bytes: reviewed, mode }));
  // The model continued from its proposal: remove the refused part from its newer text, if possible.
  if (file.staged === null || proposed === undefined || reviewed === undefined) return file;
  const merged = mergedBytes({ base: proposed, theirs: reviewed, mine: tree.content(file.staged.sha256) });
  return merged === undefined ? file : withStaged(file, tree.store({ bytes: Buffer.from(merged), mode }));
}

function withStaged(file: StagedFile, staged: FileState | null): StagedFile {
  if (isSameState(file.staged, staged)) return file;
  const { versions } = file;
  const last = { sha256: staged?.sha256 ?? null, command: versions.at(-1)?.command ?? "" };
  // Steps with refused text would wrongly be attributed to the author of the last one.
  return { ...file, staged, versions: [last], at: Date.now() };
}
