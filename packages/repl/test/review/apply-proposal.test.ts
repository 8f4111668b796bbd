import type { ReviewToApply } from "@gennai/client/home/repl-home";
import { describe, expect, it } from "vitest";
import { applyProposal, filesNamedIn, type ProposalAppliers } from "../../src/review/apply-proposal.ts";

const proposal = {
  proposalId: "p",
  toolCallId: "c",
  hasConflicts: false,
  warnings: [],
  changes: [
    {
      id: "1",
      path: "src/add.ts",
      operation: "update" as const,
      unifiedDiff: "",
      newContent: "",
      hunks: [],
      newContentBlob: undefined,
      baseSha256: "b1",
      baseBlob: undefined,
      conflict: false,
      warning: "",
    },
  ],
};
const keep: ReviewToApply = {
  sessionId: "s",
  proposalId: "p",
  note: "",
  hunks: [{ changeId: "1", hunkId: "", decision: { type: "keep" } }],
};
const undo: ReviewToApply = { ...keep, hunks: [{ changeId: "1", hunkId: "", decision: { type: "undo" } }] };
const signal = new AbortController().signal;
const nobody: ProposalAppliers["session"] = { applyProposal: () => Promise.reject(new Error("not asked")) };

describe("a review", () => {
  it("is carried out by a home that can", async () => {
    const home = { applyProposal: async () => ({ files: ["src/add.ts"] }) };
    expect(await applyProposal({ home, session: nobody }, keep, proposal, { signal })).toEqual({
      type: "applied",
      files: ["src/add.ts"],
      changeSetId: undefined,
    });
    const none = { applyProposal: async () => ({ files: [] }) };
    expect(await applyProposal({ home: none, session: nobody }, undo, proposal, { signal })).toEqual({
      type: "nothing-kept",
    });
  });

  it("goes to the server with the texts the user saw where the home cannot", async () => {
    const asked: unknown[] = [];
    const session: ProposalAppliers["session"] = {
      applyProposal: async (review) => {
        asked.push(review);
        return { changeSetId: "", files: [] };
      },
    };
    expect(await applyProposal({ home: {}, session }, undo, proposal, { signal })).toEqual({ type: "nothing-kept" });
    expect(asked).toEqual([{ ...undo, expectedBases: new Map([["src/add.ts", "b1"]]) }]);
  });

  it("that is refused says why, and which files it names", async () => {
    const home = { applyProposal: () => Promise.reject(new Error("src/add.ts is no longer as it was.")) };
    expect(await applyProposal({ home, session: nobody }, keep, proposal, { signal })).toEqual({
      type: "refused",
      reason: "src/add.ts is no longer as it was.",
      changedFiles: ["src/add.ts"],
    });
    expect(filesNamedIn("src/add.ts.map is gone", proposal)).toEqual([]);
  });
});
