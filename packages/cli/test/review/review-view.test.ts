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

const actions = { done: () => undefined, edit: () => Promise.resolve(undefined), refresh: () => undefined };

/** A view of single changes. */
function viewOf(...changes: readonly ProposedChange[]): ReviewView {
  return new ReviewView({ ...proposal, changes, hasConflicts: false }, (_style, text) => text, actions);
}

function withLines(id: string, lines: readonly string[]): ProposedChange {
  return { ...change(id, 0), hunks: change(id, 1).hunks.map((hunk) => ({ ...hunk, lines })) };
}

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

test("a hunk is seen to its end, however long it or its lines are, and each begins at its top", () => {
  const lines = ["+a very wide line that ends in END", ...Array.from({ length: 200_000 }, (_, at) => `+${at}`)];
  const view = viewOf(withLines("long", lines), withLines("short", ["-a"]));
  const rows = (): string => view.rows({ columns: 24, rows: 12 }).join("\n");
  expect(rows()).toContain("END");
  expect(rows()).toMatch(/More rows of this hunk: \d+ below: Space$/m);
  view.handle(" ");
  expect(rows()).not.toContain("@@");
  expect(rows()).toMatch(/below: Space, \d+ above: b$/m);
  view.handle("b");
  expect(rows()).toContain("END");
  view.handle("\u001b[6~");
  view.handle("j");
  view.handle("k");
  expect(rows()).toContain("END");
});

test.each<[string, ProposedChange, readonly string[]]>([
  [
    "what hides",
    withLines("\u202ea", ["-a\r", "+\u200bb", "--- c"]),
    ["\\u{202e}a update", "▌  -a", "▌  +\\u{200b}b", "▌  --- c"],
  ],
  [
    "the names in a diff without hunks",
    { ...change("joined", 0), unifiedDiff: "--- a/one\n+++ b/one\n@@ -1 +1 @@\n--- old\n+-- foo\n" },
    ["▌  --- a/one", "▌  +++ b/one", "▌  @@ -1 +1 @@", "▌  --- old", "▌  +-- foo"],
  ],
])("a review shows %s", (_name, shown, wanted) => {
  const rows = viewOf(shown).rows({ columns: 40, rows: 20 });
  expect(rows.filter((row) => wanted.includes(row))).toEqual(wanted);
});
