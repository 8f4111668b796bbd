import { decide, newReview } from "@gennai/client/host/review-state";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import { expect, test } from "vitest";
import { proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";
import type { DocumentSubject } from "../../src/documents/content-documents.ts";
import { documentHunks, hasAnyHunk } from "../../src/review/editor-hunks.ts";
import type { UnseenFile } from "../../src/review/unseen-file.ts";

const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}\n`);
const isChanged = (index: number) => index % 20 === 7;
const base = lines.join("");
const fresh = lines.map((line, index) => (isChanged(index) ? `changed ${index}\n` : line)).join("");

const change = proposedChange({
  newContent: fresh,
  hunks: lines.flatMap((_, index) =>
    isChanged(index)
      ? [
          {
            id: `h${index}`,
            oldRange: { start: index + 1, count: 1 },
            newRange: { start: index + 1, count: 1 },
            lines: [`-line ${index}`, `+changed ${index}`],
          },
        ]
      : [],
  ),
});
const proposal = (proposalId: string): Proposal => proposalOf([change], proposalId);
const proposals = new Map(["old", "new"].map((id) => [id, proposal(id)]));
const unseen: UnseenFile = { path: "a.txt", base, agent: fresh };

function hunks(subject: DocumentSubject, now: string, options: { isOpen?: boolean; isLoaded?: boolean } = {}) {
  const { isOpen = true, isLoaded = true } = options;
  return documentHunks(
    {
      proposals: () => (isOpen ? proposals : new Map()),
      reviewOf: ({ proposalId }) => decide(newReview(proposalId), "c1", ["h7"], { type: "keep" }),
      textOf: () => (isLoaded ? { base, fresh } : undefined),
      unseenOf: (path) => (path === "a.txt" ? unseen : undefined),
    },
    subject,
    now,
  );
}

const file: DocumentSubject = { type: "file", path: "a.txt" };
const shown = (proposalId: string): DocumentSubject => ({ type: "proposed", proposalId, changeId: "c1" });

test.each([
  {
    name: "a file shows the newest proposal for it",
    subject: file,
    now: base,
    wanted: ["proposed", 500, "new", "keep"],
  },
  { name: "its new text", subject: shown("old"), now: fresh, wanted: ["proposed", 500, "old", "keep"] },
  { name: "a proposal that is decided", subject: shown("gone"), now: base, wanted: undefined },
  { name: "another file", subject: { type: "file", path: "b.txt" }, now: base, wanted: undefined },
  {
    name: "what the agent wrote",
    subject: file,
    now: fresh,
    options: { isOpen: false },
    wanted: ["written", 500, undefined, "open"],
  },
  { name: "a text that is not here yet", subject: file, now: base, options: { isLoaded: false }, wanted: undefined },
] as const)("$name, of 10,000 lines, without making anybody wait", ({ subject, now, wanted, ...more }) => {
  const started = process.cpuUsage();
  const found = hunks(subject, now, "options" in more ? more.options : {});
  const took = process.cpuUsage(started).user / 1000;
  expect(
    found && [found.origin, found.hunks.length, found.proposed?.proposal.proposalId, found.hunks[0]?.state],
  ).toEqual(wanted);
  expect(took).toBeLessThan(500);
});

test.each([
  { name: "a proposal with hunks", proposals: [proposal("p")], files: [], wanted: true },
  {
    name: "a proposal that can only be decided about as a whole",
    proposals: [{ ...proposal("p"), changes: [{ ...change, hunks: [] }] }],
    files: [],
    wanted: false,
  },
  { name: "a file that is not open", proposals: [], files: [unseen], wanted: true },
  { name: "an open file with a hunk", proposals: [], files: [{ ...unseen, path: "has 1" }], wanted: true },
  { name: "an open file whose hunks are undone", proposals: [], files: [{ ...unseen, path: "has 0" }], wanted: false },
  { name: "a deleted file", proposals: [], files: [{ ...unseen, agent: undefined }], wanted: true },
])("there is a hunk to go to, or none: $name", ({ proposals: open, files, wanted }) => {
  const countIn = (path: string) => (path.startsWith("has ") ? Number(path.slice(4)) : undefined);
  expect(hasAnyHunk(open, files, countIn)).toBe(wanted);
});
