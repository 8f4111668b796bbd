import { expect, test } from "vitest";
import { readWrites } from "#read-writes";

function line(metadata: object, files: readonly object[] = []): string {
  return JSON.stringify({
    version: "0.1.0",
    id: "1",
    timestamp: "2026-11-25T12:00:00.000Z",
    tool: { name: "gennai", version: "1" },
    files,
    metadata: { seq: 1, session_id: "s", turn_id: "t", calls: [], changes: [], details: {}, ...metadata },
  });
}

const change = { path: "a.js", operation: "update", before_sha256: "b", after_sha256: "a" };
const call = { call_id: "c", tool: "Edit", verdict: "allow", rule: "", verification: "verified" };
const traced = {
  path: "a.js",
  conversations: [
    {
      contributor: { type: "ai", model_id: "m/1" },
      ranges: [{ start_line: 2, end_line: 3, content_hash: "sha256:h" }],
    },
  ],
};

test("a write has its model, call, blocks and intent", () => {
  const record = line({ kind: "outcome", calls: [call], changes: [change], details: { intent: "INT-1" } }, [traced]);
  expect(readWrites([record])).toEqual([
    {
      seq: 1,
      recordId: "1",
      time: "2026-11-25T12:00:00.000Z",
      path: "a.js",
      operation: "update",
      beforeSha256: "b",
      afterSha256: "a",
      blocks: [{ startLine: 2, endLine: 3, sha256: "h" }],
      sessionId: "s",
      turnId: "t",
      call: { id: "c", tool: "Edit" },
      model: "m/1",
      agent: undefined,
      intent: "INT-1",
      decision: { type: "allowed", rule: "" },
      verification: "verified",
      isUndo: false,
      edited: [],
    },
  ]);
});

test("what a turn that was cut off had written is of the call that had no end, and of no person", () => {
  const begun = line({ kind: "intent", seq: 1, calls: [{ ...call, call_id: "c1", verification: undefined }] });
  const ended = line({ kind: "outcome", seq: 2, calls: [{ ...call, call_id: "c1" }] });
  const confirmation = { answer: "yes", by: "ada", scope: "once" };
  const asked = { ...call, call_id: "c2", verification: undefined, rule: "r", confirmation };
  const cut = line({ kind: "intent", seq: 3, calls: [asked] });
  const interrupted = line({ kind: "outcome", seq: 4, changes: [change], details: { interrupted: true } });
  expect(readWrites([begun, ended, cut, interrupted])).toMatchObject([
    {
      seq: 4,
      call: { id: "c2", tool: "Edit" },
      decision: { type: "approved", rule: "r", by: "ada" },
      verification: "unverified",
    },
  ]);
  expect(readWrites([begun, cut, interrupted])).toMatchObject([{ call: undefined, decision: { type: "untold" } }]);
  expect(readWrites([interrupted])).toMatchObject([{ call: undefined, decision: { type: "untold" } }]);
  const elsewhere = line({ kind: "intent", seq: 3, calls: [asked], turn_id: "another" });
  expect(readWrites([elsewhere, interrupted])).toMatchObject([{ call: undefined, decision: { type: "untold" } }]);
});

test.each([
  [
    { ...call, confirmation: { answer: "yes", by: "ada", scope: "once" }, rule: "r" },
    { type: "approved", rule: "r", by: "ada", scope: "once" },
  ],
  [
    { ...call, plan_step: "2" },
    { type: "planned", step: "2", rule: "" },
  ],
  [
    { ...call, rule: "rules/user/x" },
    { type: "allowed", rule: "rules/user/x" },
  ],
])("who let it happen: %j", (made, decision) => {
  expect(readWrites([line({ kind: "outcome", calls: [made], changes: [change] })])).toMatchObject([{ decision }]);
});

test("a proposal that was applied was let happen by its review", () => {
  const hunks = ["keep", "keep", "undo", "edited"].map((decision) => ({
    changeId: "1",
    hunkId: "1",
    decision,
    editedText: decision === "edited" ? "mine\n" : "",
  }));
  const review = line({ kind: "review", details: { review: { proposalId: "p", hunks, note: "" } } });
  const applied = line({ kind: "applied", seq: 2, changes: [change], details: { proposalId: "p", by: "server" } });
  expect(readWrites([review, applied])).toMatchObject([
    { seq: 2, decision: { type: "reviewed", proposalId: "p", kept: 2, refused: 1, edited: 1 }, edited: ["mine\n"] },
  ]);
  // Its review was withheld, as from a bundle: then nobody says who let it happen, and no person wrote it all the same.
  expect(readWrites([applied])).toMatchObject([{ decision: { type: "untold" }, edited: "unknown" }]);
  const put = line({ kind: "applied", seq: 2, changes: [change], details: { by: "ada", title: "npm run build" } });
  expect(readWrites([put])).toMatchObject([{ decision: { type: "person" } }]);
});

test("what is purged, cut, of others or no record reports nothing", () => {
  const purged = line({ kind: "outcome", purged: true, calls: undefined, changes: undefined, details: undefined });
  expect(readWrites([purged, "", "{", "[]", '{"id":1}', '{"files":[],"metadata":null}'])).toEqual([]);
  expect(readWrites([line({ kind: "outcome", changes: [{ path: "a" }, 1] })])).toEqual([]);
});
