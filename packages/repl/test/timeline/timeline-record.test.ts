import { expect, test } from "vitest";
import { kindWords, recordWords } from "#timeline/record-words";
import { brokenLinks, passes, timelineRecord, withoutBegun } from "#timeline/timeline-record";

const line = (seq: number, previous: string, hash: string, more: object = {}) =>
  timelineRecord(
    seq,
    JSON.stringify({
      timestamp: "2026-01-02T03:04:05Z",
      metadata: { seq, previous_hash: previous, hash, kind: "outcome", session_id: "s", calls: [], ...more },
    }),
  );

test.each([
  { name: "a chain", records: [line(4, "x", "a"), line(5, "a", "b"), line(6, "b", "c")], broken: [] },
  { name: "a changed link", records: [line(4, "x", "a"), line(5, "z", "b"), line(6, "b", "c")], broken: [5] },
  { name: "a gap", records: [line(4, "x", "a"), line(6, "a", "c")], broken: [6] },
  { name: "no record at all", records: [line(4, "x", "a"), timelineRecord(5, "not json")], broken: [5] },
])("$name", ({ records, broken }) => expect([...brokenLinks(records)]).toEqual(broken));

test("a call that ended is one record; one that goes on is shown as it began", () => {
  const call = (id: string) => ({ calls: [{ call_id: id, tool: "Bash" }] });
  const records = [
    line(1, "x", "a", { kind: "intent", ...call("1") }),
    line(2, "a", "b", call("1")),
    line(3, "b", "c", { kind: "refusal", ...call("2") }),
    line(4, "c", "d", { kind: "intent", ...call("3") }),
  ];
  expect(withoutBegun(records).map(({ seq }) => seq)).toEqual([2, 3, 4]);
});

test("the intent that was worked under is named by its id", () => {
  expect(line(1, "x", "a", { details: { intent: "INT-001" } }).intent).toBe("INT-001");
  expect(line(1, "x", "a").intent).toBe("");
});

const review = { proposalId: "p", hunks: [{ decision: "keep" }, { decision: "undo" }, { decision: "keep" }, null] };
const proposed = { changes: [{ path: "a.ts", new_content: "x" }, { path: "b.ts" }] };
test.each([
  ["a review", { kind: "review", details: { review } }, "2 kept, 1 refused"],
  ["a branch", { kind: "session", details: { branch: "ai-agent/x", how: "created" } }, "branch ai-agent/x made"],
  [
    "a first commit",
    { kind: "session", details: { firstCommit: "abc", branch: "main", files: 5 } },
    "first commit, 5 files",
  ],
  [
    "a switch of intents",
    { kind: "session", details: { intents_mode: "off", intents_mode_before: "auto" } },
    "intents off, before auto",
  ],
  ["an approval", { kind: "session", details: { plan: { id: "1", approved_by: "ann" } } }, "plan approved by ann"],
  [
    "a proposal, by its files",
    { calls: [{ tool: "ProposeChanges", input: JSON.stringify(proposed) }] },
    "ProposeChanges a.ts, b.ts",
  ],
  [
    "a command, with what it changed",
    { calls: [{ tool: "Bash", input: { command: "make" } }], changes: [{ path: "out.o" }] },
    "Bash make → out.o",
  ],
  ["what is not known", { kind: "session", details: { review: { hunks: 7 }, other: 1 } }, ""],
])("what %s says", (_name, more, words) => expect(recordWords(line(1, "x", "a", more))).toBe(words));

test.each([
  ["what ended well", { calls: [{ tool: "Bash" }] }, "outcome"],
  ["what a rule refused", { calls: [{ tool: "Bash", failure_class: "permission_denied" }] }, "refused"],
  ["what failed or was stopped", { calls: [{ tool: "Bash", failure_class: "partial_execution" }] }, "failed"],
  ["a turn that was cut off", { details: { interrupted: true } }, "interrupted"],
])("the line of %s says so", (_name, more, word) => expect(kindWords(line(1, "x", "a", more))).toBe(word));

test("a record is read as far as it goes", () => {
  const call = { call_id: "c", tool: "Bash", input: { command: "npm test" }, verdict: "allow", exit_code: 1 };
  const record = line(1, "x", "a", { calls: [call], changes: [{ path: "a.ts" }, { path: "a.ts" }], details: 7 });
  expect(record).toMatchObject({ kind: "outcome", sessionId: "s", paths: ["a.ts"], purged: false });
  expect(record.calls).toMatchObject([{ tool: "Bash", input: "npm test", exitCode: 1, confirmation: "" }]);
  expect(timelineRecord(2, '{"metadata":{"purged":true,"calls":"x"},"files":[null]}')).toMatchObject({
    purged: true,
    calls: [],
  });
});

test.each([
  { filter: { kind: "", sessionId: "", path: "", text: "" }, passed: true },
  { filter: { kind: "intent", sessionId: "", path: "", text: "" }, passed: false },
  { filter: { kind: "outcome", sessionId: "s", path: "", text: "NPM test" }, passed: true },
  { filter: { kind: "", sessionId: "other", path: "", text: "" }, passed: false },
  { filter: { kind: "", sessionId: "", path: "", text: "npm nowhere" }, passed: false },
  { filter: { kind: "", sessionId: "", path: "src/a.ts", text: "" }, passed: false },
])("filter $filter", ({ filter, passed }) => {
  expect(passes(line(1, "x", "a", { calls: [{ tool: "Bash", input: { command: "npm test" } }] }), filter)).toBe(passed);
});

test("a call's input is read as the ledger has it, and names its command and its file", () => {
  const calls = [
    { tool: "Bash", input: '{"command":"npm test"}' },
    { tool: "Edit", input: '{"file_path":"src/a.ts","old_string":"x"}' },
    { tool: "Odd", input: "no JSON" },
  ];
  const record = line(1, "x", "a", { calls });
  expect(record.calls.map(({ input, files }) => [input, files])).toEqual([
    ["npm test", []],
    ["src/a.ts", ["src/a.ts"]],
    ["", []],
  ]);
  expect(passes(record, { kind: "", sessionId: "", path: "src/a.ts", text: "" })).toBe(true);
});

test("the record before a call is not called an intent, which is something else", () => {
  const words = ["intent", "outcome"].map((kind) => kindWords({ kind, end: "done" }));
  expect(words).toEqual(["starts", "outcome"]);
});
