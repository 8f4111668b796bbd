import { decisionFor, type ReviewState } from "@gennai/client/host/review-state";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { expect, test } from "vitest";
import { ReviewView } from "#review/review-view";

function change(id: string, hunks: number, conflict = false): ProposedChange {
  const range = { start: 1, count: 1 };
  return {
    id,
    path: id,
    operation: "update",
    unifiedDiff: "",
    newContent: "",
    baseSha256: "",
    conflict,
    warning: "",
    hunks: Array.from({ length: hunks }, (_, at) => ({ id: `${at}`, oldRange: range, newRange: range, lines: [] })),
  };
}

const proposal = {
  proposalId: "p",
  toolCallId: "",
  changes: [change("a", 2), change("apart", 1), change("b", 2), change("stale", 1, true)],
  hasConflicts: true,
  warnings: [],
};

/** Decisions by hunk, in order: `k`eep, `u`ndo, `-` none; left: the review was left. */
function after(keys: string): string {
  let result: ReviewState | undefined;
  const view = new ReviewView(proposal, (_style, text) => text, {
    done: (state) => (result = state),
    edit: () => Promise.resolve(undefined),
    refresh: () => undefined,
    apart: new Set(["apart"]),
  });
  for (const key of keys) view.handle(key);
  const state = result;
  if (state === undefined) return "left";
  const types = proposal.changes.flatMap(({ id, hunks }) => hunks.map((hunk) => decisionFor(state, id, hunk.id)?.type));
  return types.map((type) => type?.[0] ?? "-").join("");
}

test.each([
  ["yn\r\r", "ku----"],
  ["Y\r\r", "kk----"],
  ["jN\r\r", "uu----"],
  ["na\r\r", "uk-kk-"],
  ["Ynd\r\r", "kkuuuu"],
  ["YYa\r\r", "kkkkk-"],
  // Enter asks once more, and any other key goes back.
  ["y\rk\rq\r\r", "k-----"],
  ["yq", "left"],
])("%j decides %s", (keys, decided) => {
  expect(after(keys)).toBe(decided);
});
