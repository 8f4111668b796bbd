import { newReview } from "@gennai/client/host/review-state";
import { expect, test, vi } from "vitest";
import { proposalOf, proposedChange } from "../../../../protocol/test/model/session/proposed-change.ts";
import { keepHunk, undoHunk } from "../../../src/commands/changes/review-commands.ts";
import type { Workbench } from "../../../src/commands/workbench.ts";

const said = vi.hoisted(() => ({ messages: [] as string[] }));
vi.mock("vscode", () => ({
  window: {
    showInformationMessage: async (message: string, ...choices: string[]) => {
      said.messages.push(message);
      return choices[0];
    },
  },
  workspace: { openTextDocument: async () => ({}) },
  Uri: { parse: (text: string) => text },
}));

const hunk = (id: string) => ({ id, oldRange: { start: 1, count: 1 }, newRange: { start: 1, count: 1 }, lines: [] });
const change = proposedChange({ hunks: [hunk("h1"), hunk("h2")] });

test("the last decision about a proposal offers to apply it, no later one does, and the review shows that one", async () => {
  const older = proposalOf([change], "older");
  const open = new Map([older, { ...older, proposalId: "newest" }].map((each) => [each.proposalId, each]));
  let state = newReview("older");
  const asked: unknown[] = [];
  const workbench: unknown = {
    review: {
      hunksOf: () => ({
        origin: "proposed",
        path: "a.txt",
        hunks: [{ id: "h1" }, { id: "h2" }],
        proposed: { proposal: older, change, side: "base" },
      }),
    },
    reviews: {
      of: () => state,
      set: (next: typeof state) => {
        state = next;
      },
    },
    sessions: { facts: { openProposals: open } },
    views: { reveal: async () => undefined, ask: (notice: unknown) => void asked.push(notice) },
  };
  const bench = workbench as Workbench;
  await keepHunk(bench, ["a.txt", "h1"]);
  expect(said.messages).toEqual([]);
  await keepHunk(bench, ["a.txt", "h2"]);
  await undoHunk(bench, ["a.txt", "h1"]);
  await vi.waitFor(() => expect(asked).toEqual([{ type: "show-panel", panel: "review", proposalId: "older" }]));
  expect(said.messages).toEqual(["Everything proposed for a.txt is decided: 2 of 2 kept. Nothing is written yet."]);
});
