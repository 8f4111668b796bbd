import type { LineTrace, TracedOrigin, TracedWrite } from "@gennai/protocol/model/governance/line-trace";
import { expect, test } from "vitest";
import { originNotes } from "#provenance/origin-notes";

const write = (seq: number, overrides: Partial<TracedWrite> = {}): TracedWrite => ({
  seq,
  time: "",
  path: "a.js",
  sessionId: "s",
  turnId: "t",
  call: { id: "c", tool: "Edit" },
  model: "offline/gennai",
  agent: undefined,
  intent: undefined,
  decision: { type: "allowed", rule: "" },
  verification: "verified",
  beforeSha256: undefined,
  afterSha256: undefined,
  ...overrides,
});
const of = (found: TracedWrite, method: "same-lines" | "formatted" = "same-lines"): TracedOrigin => ({
  type: "recorded",
  write: found,
  method,
  confidence: 0.9,
});
const unknown = (reason: "outside" | "ambiguous" | "not-recorded"): TracedOrigin => ({
  type: "unknown",
  reason,
  candidates: [],
});

function trace(origins: readonly (readonly [count: number, origin: TracedOrigin])[], status = "ok"): LineTrace {
  let firstLine = 1;
  const runs = origins.map(([lineCount, origin]) => {
    const run = { firstLine, lineCount, origin };
    firstLine += lineCount;
    return run;
  });
  return { trust: { status, message: "" }, runs };
}

test("lines of one write have one note, however they were found; unknown ones stay bare", () => {
  const one = write(4, { intent: "INT-002" });
  const found = trace([
    [2, unknown("outside")],
    [3, of(one)],
    [1, of(one, "formatted")],
    [1, unknown("ambiguous")],
    [1, of(write(5, { verification: "failed", agent: "codex" }))],
  ]);
  expect(originNotes(found, 100)).toEqual([
    { first: 0, last: 1, bar: undefined, text: "" },
    { first: 2, last: 5, bar: 0, text: "#4 offline/gennai · INT-002 · no rule asked" },
    { first: 6, last: 6, bar: "unsure", text: "? several calls, or a person in a review, may have written it" },
    { first: 7, last: 7, bar: "failed", text: "#5 codex · no rule asked · check failed" },
  ]);
});

test("a text that became shorter meanwhile, a long name, and what nobody sees", () => {
  const name = `m\u202e${"x".repeat(500)}`;
  const [note, ...more] = originNotes(
    trace([
      [5, of(write(4, { model: name }))],
      [9, of(write(5))],
    ]),
    4,
  );
  expect(more).toEqual([]);
  expect(note?.last).toBe(3);
  expect(note?.text).toHaveLength(120);
  expect(note?.text).not.toContain("\u202e");
});

test("lines of a ledger that is not as it was signed are marked as such", () => {
  expect(originNotes(trace([[1, of(write(4))]], "broken_chain"), 9).map(({ bar }) => bar)).toEqual(["untrusted"]);
});
