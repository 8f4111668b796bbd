import { createHash } from "node:crypto";
import type { ProposalReview } from "@gennai/agent/events/proposal";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { rebaseStagedTree } from "@gennai/shell/proposal/rebase-staged-tree";
import { StagedTree } from "@gennai/shell/proposal/staged-tree";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { settleReviews } from "#proposal/settle-reviews";
import { stagedChanges } from "#proposal/staged-proposal";

const lines = (changed: readonly number[]) =>
  Array.from({ length: 12 }, (_none, index) => `${changed.includes(index + 1) ? "new" : "line"} ${index + 1}\n`).join(
    "",
  );
const bytesOf = (text: string) => ({ bytes: Buffer.from(text), mode: 0o644 });

/** A staged tree of a.txt, with what a log has of its proposals and their reviews. */
function staging(stateDir: string) {
  const tree = StagedTree.open(stateDir, "one", { path: "/workspace" });
  const stored = new Map<string, Uint8Array>();
  const blobs = {
    put: async (bytes: Uint8Array, mediaType: string) => {
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      stored.set(sha256, bytes);
      return { sha256, size: bytes.length, mediaType };
    },
    get: async (sha256: string) => stored.get(sha256),
  };
  const proposals = new Map<string, Proposal>();
  const reviewedProposals = new Map<string, ProposalReview>();
  const undoneProposals = new Set<string>();
  return {
    tree,
    stage: (base: string, staged: string) =>
      tree.update([{ path: "a.txt", base: bytesOf(base), staged: bytesOf(staged), command: "" }]),
    async propose(proposalId: string) {
      const changes = await stagedChanges(tree, blobs);
      proposals.set(proposalId, { proposalId, toolCallId: "", changes, hasConflicts: false, warnings: [] });
      tree.markProposed(proposalId);
    },
    review(proposalId: string, decision: "keep" | "undo") {
      const hunks = [{ changeId: "c1", hunkId: "", decision, editedText: "", note: "" } as const];
      reviewedProposals.set(proposalId, { proposalId, hunks, note: "" });
    },
    undo: (proposalId: string) => undoneProposals.add(proposalId),
    settle: () => settleReviews(tree, { proposals, reviewedProposals, undoneProposals }, blobs),
    text: () => tree.content(tree.files.get("a.txt")?.staged?.sha256 ?? "").toString(),
  };
}

test("an older proposal that is refused after the newest was kept takes nothing back", async () => {
  await using state = await temporaryDirectory();
  const { tree, stage, propose, review, settle, text } = staging(state.root);
  stage(lines([]), lines([2]));
  await propose("first");
  stage(lines([]), lines([2, 8]));
  await propose("second");
  review("second", "keep");
  await settle();
  expect(tree.open).toEqual([]);
  await rebaseStagedTree(tree, async () => bytesOf(lines([2, 8])));
  expect(tree.files.size).toBe(0);
  review("first", "undo");
  stage(lines([2, 8]), lines([2, 5, 8]));
  await settle();
  expect(text()).toBe(lines([2, 5, 8]));
});

test("what was kept and undone is not proposed again", async () => {
  await using state = await temporaryDirectory();
  const { tree, stage, propose, review, undo, settle } = staging(state.root);
  stage(lines([]), lines([2, 8]));
  await propose("first");
  review("first", "keep");
  undo("first");
  await settle();
  await rebaseStagedTree(tree, async () => bytesOf(lines([])));
  expect(tree.files.size).toBe(0);
});

test("of two reviews that came between, the newer proposal's counts", async () => {
  await using state = await temporaryDirectory();
  const { stage, propose, review, settle, text } = staging(state.root);
  stage(lines([]), lines([2]));
  await propose("first");
  stage(lines([]), lines([2, 8]));
  await propose("second");
  review("first", "undo");
  review("second", "keep");
  await settle();
  expect(text()).toBe(lines([2, 8]));
});

test("a review of an older proposal is followed, and the newer one waits for its own", async () => {
  await using state = await temporaryDirectory();
  const { tree, stage, propose, review, settle, text } = staging(state.root);
  stage(lines([]), lines([2]));
  await propose("first");
  stage(lines([]), lines([2, 8]));
  await propose("second");
  review("first", "undo");
  await settle();
  expect(text()).toBe(lines([8]));
  expect(tree.open).toEqual(["second"]);
});
