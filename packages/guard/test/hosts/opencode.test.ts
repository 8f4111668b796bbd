import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { changesNothing, type HostCall, UnreadableHookInput } from "#hosts/guarded-host";
import { opencode } from "#hosts/opencode";

/** As our plugin sent them from opencode 1.18.33. */
const recorded = readFileSync(new URL("opencode-1.18.33.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const envelope = { event: "before", session: "s", call: "c", directory: "/home/you/app", asks: false };
const before = (tool: string, args: object): HostCall => {
  const event = opencode.read({ ...envelope, tool, args });
  if (event.type !== "before") throw new Error(event.type);
  return event.call;
};

test("what was really told is read; what began has its end, as the same call", () => {
  const events = recorded.map((payload) => opencode.read(payload));
  const begun = events.flatMap((event) => (event.type === "before" ? [event.call] : []));
  expect(begun.map((call) => (call.type === "judged" ? call.tool : call.type))).toEqual(
    expect.arrayContaining(["Bash", "Read", "Edit", "Write"]),
  );
  const ran = events.flatMap((event) => (event.type === "after" && event.ran !== undefined ? [event.ran] : []));
  for (const call of ran) {
    const { args, ...same } = call.type === "judged" ? call : { args: {} };
    expect(begun).toContainEqual(expect.objectContaining({ ...same, args: expect.objectContaining(args) }));
  }
  expect(events).toContainEqual(
    expect.objectContaining({ end: { failed: true, message: expect.stringContaining("Could not find oldString") } }),
  );
});

test.each([
  ["bash", { command: "ls", timeout: 1 }, { tool: "Bash", args: { command: "ls", cwd: "/home/you/app" } }],
  ["bash", { command: "ls", workdir: "/etc" }, { tool: "Bash", args: { command: "ls", cwd: "/etc" } }],
  ["bash", { command: "ls", workdir: "../x" }, { tool: "Bash", args: { command: "ls", cwd: "/home/you/app/../x" } }],
  ["read", { filePath: "a", limit: 1 }, { tool: "Read", args: { file_path: "a" }, readsOnly: true }],
  ["glob", { pattern: "*" }, { tool: "Glob", args: { pattern: "*" }, readsOnly: true }],
  ["grep", { pattern: "x", include: "*.ts" }, { tool: "Grep", args: { pattern: "x", glob: "*.ts" }, readsOnly: true }],
  ["write", { filePath: "a", content: "x" }, { tool: "Write", args: { file_path: "a", content: "x" } }],
  [
    "edit",
    { filePath: "a", oldString: "x", newString: "y", replaceAll: true },
    { tool: "Edit", args: { file_path: "a", old_string: "x", new_string: "y", replace_all: true } },
  ],
  [
    "apply_patch",
    { patchText: "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch" },
    { tool: "Patch", args: { files: [{ path: "n", operation: "write", content: "x" }] } },
  ],
  ["webfetch", { url: "https://a.example", format: "text" }, { tool: "WebFetch", args: { url: "https://a.example" } }],
  ["skill", { name: "x" }, { tool: "skill", server: "opencode", readsOnly: false }],
  ["files_write", { path: "x" }, { tool: "files_write", server: "opencode" }],
])("%s %j", (tool, args, wanted) => {
  expect(before(tool, args)).toMatchObject({ type: "judged", ...wanted });
});

test.each(["todowrite", "task", "question", "invalid", "plan_exit"])("%s is its own", (tool) => {
  expect(before(tool, {})).toEqual({ type: "own" });
});

test.each([
  ["bash", { command: 1 }],
  ["edit", { filePath: "a" }],
  ["apply_patch", { patchText: "nothing" }],
  ["glob", {}],
])("what cannot be read must not run: %s %j", (tool, args) => {
  expect(() => before(tool, args)).toThrow(UnreadableHookInput);
});

test("what goes on without a server changes nothing", () => {
  const asked = (tool: string, args: object) => changesNothing(opencode.read({ ...envelope, tool, args }));
  expect(asked("read", { filePath: "a" })).toBe(true);
  expect(asked("todowrite", {})).toBe(true);
  expect(asked("bash", { command: "ls" })).toBe(false);
  expect(asked("theirs", {})).toBe(false);
});
