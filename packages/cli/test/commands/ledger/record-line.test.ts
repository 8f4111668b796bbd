import { expect, test } from "vitest";
import { describeRecord } from "#commands/ledger/record-line";
import type { Paint } from "#terminal/colours";

const record = (kind: string, details: object) =>
  JSON.stringify({
    timestamp: "2026-01-02T03:04:05Z",
    files: [{ path: "src/a.ts", conversations: [] }],
    metadata: { seq: 7, kind, calls: [{ tool: "Write", verdict: "allow" }], details },
  });
const plain: Paint = (_style, text) => text;

test("a record of the first format names its files", () => {
  const old = { timestamp: "2025-01-01T00:00:00Z", files: [{ relative_path: "src/a.ts", conversations: [] }] };
  expect(describeRecord(JSON.stringify(old), plain)).toBe("    -  2025-01-01 00:00:00 UTC            src/a.ts");
});

test.each([
  ["applied", { by: "try", title: "x", kept: ["a", "b"] }, "try “x”: 2 kept"],
  ["review", { by: "try", title: "x", kept: [], dropped: ["a"] }, "try “x”: 0 kept, 1 dropped"],
  ["undo", { title: "x" }, "undid “x”"],
  ["session", { plan: { id: "p1", approved_by: "ann" } }, "plan p1 approved by ann"],
  [
    "session",
    { actor: { tenant: "acme", user: "bob" }, policy: { name: "acme-default", sha256: "9ea0" }, other: 1 },
    "for bob, tenant acme, policy acme-default, other 1",
  ],
  ["intent", { plan: { id: "p1", approved_by: "ann" } }, "plan p1 begins to run, as ann approved it"],
  ["outcome", { plan: { id: "p1", state: "awaiting_approval", steps: {} } }, "plan p1: awaiting approval"],
  [
    "emergency",
    { control: "block-tool", tool: "deploy", enabled: true, by: "ann", via: "cli", reason: "freeze", effective: true },
    "block-tool deploy on, by ann (cli): freeze",
  ],
  [
    "session",
    { intents_mode: "off", intents_mode_before: "auto", by: "ann", via: "cli" },
    "intents off, before auto, by ann (cli)",
  ],
  ["applied", { layer: "kept", paths: ["dist", "lib"] }, "kept what git ignores: dist, lib"],
])("a record of kind %s with %j says what a person decided", (kind, details, said) => {
  expect(describeRecord(record(kind, details), plain)).toContain(`  ${said}, Write allow`);
});

test.each([
  ["outcome", { intent: "INT-001" }, "    7  2026-01-02 03:04:05 UTC  outcome   Write allow, src/a.ts, intent INT-001"],
  ["outcome", {}, "    7  2026-01-02 03:04:05 UTC  outcome   Write allow, src/a.ts"],
  ["session", { intent: "INT-001" }, "    7  2026-01-02 03:04:05 UTC  session   intent INT-001, Write allow, src/a.ts"],
])("a record of kind %s with %j names its intent once", (kind, details, line) => {
  expect(describeRecord(record(kind, details), plain)).toBe(line);
});
