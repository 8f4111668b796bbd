import { decide } from "@gennai/client/host/review-state";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { expect, test, vi } from "vitest";
import type { ProposalApplier } from "#apply/proposal-applier";
import { applyProposedChanges } from "#commands/session-commands";
import type { Workbench } from "#commands/workbench";
import { WindowReviews } from "#review/window-reviews";

const notified = vi.hoisted((): string[] => []);
vi.mock("vscode", () => ({
  Uri: { parse: () => ({}) },
  EventEmitter: class {},
  window: {
    showInformationMessage: async (message: string, ...buttons: readonly string[]) => {
      notified.push(message);
      return buttons.find((button) => button === "Apply All");
    },
  },
}));

const range = { start: 1, count: 1 };
const hunks = ["1", "2", "3"].map((id) => ({ id, oldRange: range, newRange: range, lines: [] }));
const proposal = { proposalId: "p", changes: [{ id: "a", path: "a.ts", operation: "update", hunks }] };

test("Apply All leaves what was undone and edited as it was decided, and keeps the rest", async () => {
  const open = new Map([["p", proposal as unknown as Proposal]]);
  const reviews = new WindowReviews({ kept: [], keep: () => undefined, changed: () => undefined });
  const undone = decide(reviews.of(proposal as unknown as Proposal), "a", ["1"], { type: "undo" });
  reviews.set(decide(undone, "a", ["2"], { type: "edited", text: "mine\n" }));
  const apply = vi.fn<ProposalApplier["apply"]>(async () => ({ files: ["a.ts"] }));
  const workbench = {
    session: async () => ({ sessionId: "s" }),
    sessions: { facts: { openProposals: open } },
    views: { reveal: async () => undefined, ask: () => undefined },
    applier: { apply },
    reviews,
  } as unknown as Workbench;
  await applyProposedChanges(workbench, []);
  const decisions = [{ type: "undo" }, { type: "edited", text: "mine\n" }, { type: "keep" }].map((decision, index) => ({
    changeId: "a",
    hunkId: String(index + 1),
    decision,
  }));
  expect(apply).toHaveBeenCalledExactlyOnceWith(
    proposal,
    { sessionId: "s", proposalId: "p", hunks: decisions, note: "" },
    expect.anything(),
  );
  expect(notified.at(-1)).toBe("Applied 1 file. One Undo reverts it.");
});
