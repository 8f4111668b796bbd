import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { expect, test } from "vitest";
import { decideBySelection, namedHunks } from "#review/hunk-selection";
import { proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";

const change = (
  id: string,
  path: string,
  hunks: number,
  operation: ProposedChange["operation"] = "update",
): ProposedChange =>
  proposedChange({
    id,
    path,
    operation,
    hunks: Array.from({ length: hunks }, (_, index) => ({
      id: `h${index + 1}`,
      oldRange: { start: index, count: 1 },
      newRange: { start: index, count: 1 },
      lines: [],
    })),
  });

const proposal = proposalOf([
  change("c1", "src/a.ts", 2),
  change("c2", "src/b.ts", 1),
  change("c3", "old.ts", 1, "delete"),
]);

test("hunks are named by file and place; a delete is one", () => {
  expect(namedHunks(proposal).map(({ name }) => name)).toEqual(["src/a.ts#1", "src/a.ts#2", "src/b.ts#1", "old.ts#1"]);
});

const rows = [
  ["nothing said keeps all", [], [], ["src/a.ts#1", "src/a.ts#2", "src/b.ts#1", "old.ts#1"]],
  ["only what is refused is left out", [], ["src/a.ts#2"], ["src/a.ts#1", "src/b.ts#1", "old.ts#1"]],
  ["a file is all its hunks", [], ["src/a.ts"], ["src/b.ts#1", "old.ts#1"]],
  ["only what is kept goes in", ["src/a.ts#2"], [], ["src/a.ts#2"]],
  ["refusing wins", ["src/a.ts"], ["src/a.ts#1"], ["src/a.ts#2"]],
] as const;

test.each(rows)("%s", (_, keep, refuse, wanted) => {
  const decisions = decideBySelection(proposal, { keep, refuse });
  const kept = namedHunks(proposal).filter((_hunk, index) => decisions[index]?.decision.type === "keep");
  expect(kept.map(({ name }) => name)).toEqual(wanted);
});

test("a hunk that is not there is an error that lists those that are", () => {
  expect(() => decideBySelection(proposal, { keep: [], refuse: ["src/a.ts#3"] })).toThrow(
    expect.objectContaining({ exitCode: 2, next: [expect.stringContaining("src/a.ts#2")] }),
  );
});
