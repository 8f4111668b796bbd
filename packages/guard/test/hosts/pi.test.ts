import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { changesNothing, type HostCall, UnreadableHookInput } from "#hosts/guarded-host";
import { pi } from "#hosts/pi";

/** As our extension sent them from pi 0.87.1. */
const recorded = readFileSync(new URL("pi-0.87.1.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const envelope = { event: "before", session: "s", call: "c", directory: "/home/you/app", asks: true };
const before = (tool: string, args: object): HostCall => {
  const event = pi.read({ ...envelope, tool, args });
  if (event.type !== "before") throw new Error(event.type);
  return event.call;
};

test("what was really told is read; what began has its end, as the same call", () => {
  const events = recorded.map((payload) => pi.read(payload));
  expect(events.map(({ type }) => type).join(" ")).toBe(
    "other before after idle before after before after idle before after idle before after idle before after idle before",
  );
  const args = { file_path: "src/a.txt", edits: [{ old_string: "one", new_string: "1" }] };
  expect(events[6]).toMatchObject({ asks: true, call: { type: "judged", tool: "MultiEdit", args, readsOnly: false } });
  expect(events[7]).toMatchObject({ end: { failed: false }, ran: { tool: "MultiEdit", args } });
  expect(events[10]).toMatchObject({ end: { failed: true, message: expect.stringContaining("Could not find") } });
  // Its user was asked, and said no: it did not run.
  expect(events[16]).toEqual({
    type: "after",
    session: expect.any(String),
    callId: "call_0",
    end: { failed: true, message: "Its user said no." },
  });
});

test.each([
  ["bash", { command: "ls", timeout: 1 }, { tool: "Bash", args: { command: "ls", cwd: "/home/you/app" } }],
  ["write", { path: "@a", content: "x" }, { tool: "Write", args: { file_path: "a", content: "x" } }],
  ["write", { path: "@@a", content: "x" }, { tool: "Write", args: { file_path: "@a", content: "x" } }],
  ["write", { path: "a\u00a0b", content: "" }, { tool: "Write", args: { file_path: "a b", content: "" } }],
  ["ls", {}, { tool: "LS", args: {}, readsOnly: true }],
  ["ls", { path: "" }, { tool: "LS", args: {} }],
  ["find", { pattern: "*", path: "@src" }, { tool: "Glob", args: { pattern: "*", path: "src" } }],
  ["grep", { pattern: "x", glob: "*.ts" }, { tool: "Grep", args: { pattern: "x", glob: "*.ts" } }],
  ["read", { path: "a.txt", limit: 1 }, { tool: "Read", args: { file_path: "a.txt" }, readsOnly: true }],
  // It looks for names that macOS gives, where the first is not there: each is judged.
  ["read", { path: "it's" }, { tool: "Read", args: { file_path: "it's", or: ["it\u2019s"] } }],
  ["read", { path: "1 PM.png" }, { args: { file_path: "1 PM.png", or: ["1\u202fPM.png"] } }],
  ["read", { path: "\u00e9" }, { args: { file_path: "\u00e9", or: ["e\u0301"] } }],
  ["powershell", { command: "ls" }, { tool: "powershell", server: "pi", readsOnly: false }],
])("%s %j", (tool, args, wanted) => {
  expect(before(tool, args)).toMatchObject({ type: "judged", ...wanted });
});

describe("what cannot be read must not run", () => {
  test.each([
    ["bash", {}],
    ["bash", { command: ["ls"] }],
    ["edit", { path: "a", edits: "x" }],
    ["edit", { path: "a", oldText: "x", newText: "y" }],
    ["read", { path: "file:///etc/passwd" }],
    ["read", { path: "@file:///etc/passwd" }],
  ])("%s %j", (tool, args) => {
    expect(() => before(tool, args)).toThrow(UnreadableHookInput);
  });

  test.each([{}, { event: "before" }, { ...envelope, tool: "bash", args: [] }, { event: "idle" }, null, "x"])(
    "%j",
    (payload) => {
      expect(() => pi.read(payload)).toThrow(UnreadableHookInput);
      expect(pi.isAfterCall({ ...envelope })).toBe(false);
    },
  );
});

test("what goes on without a server changes nothing", () => {
  const asked = (tool: string, args: object) => changesNothing(pi.read({ ...envelope, tool, args }));
  expect(["read", "ls"].map((tool) => asked(tool, { path: "a" }))).toEqual([true, true]);
  expect(asked("bash", { command: "ls" })).toBe(false);
  expect(asked("write", { path: "a", content: "" })).toBe(false);
  expect(asked("theirs", {})).toBe(false);
});
