import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { codex, codexEvents } from "#hosts/codex";
import { changesNothing, type HostCall, UnreadableHookInput } from "#hosts/guarded-host";

/** As Codex 0.169.0 sent them to a hook. */
const recorded = readFileSync(new URL("codex-0.169.0.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const before = (tool_name: string, tool_input: object): HostCall => {
  const common = { session_id: "s", cwd: "/home/you/app", hook_event_name: "PreToolUse", tool_use_id: "t" };
  const event = codex.read({ ...common, tool_name, tool_input });
  if (event.type !== "before") throw new Error(event.type);
  return event.call;
};

test("what Codex really told a hook is read; every call that began has its end, as the same call", () => {
  const events = recorded.map((payload) => codex.read(payload));
  expect(new Set(recorded.map((payload) => payload["hook_event_name"]))).toEqual(new Set(codexEvents));
  expect(events.map(({ type }) => type)).toEqual([
    ...["before", "after", "before", "after", "before", "after", "before", "after"],
    "idle",
  ]);
  expect(events.flatMap((event) => (event.type === "before" ? [event.call] : []))).toEqual([
    { type: "judged", tool: "Bash", args: { command: "ls", cwd: "/home/you/app" }, readsOnly: false },
    // It was told another directory to start the command in.
    { type: "judged", tool: "Bash", args: { command: "head -1 passwd", cwd: "/etc" }, readsOnly: false },
    {
      type: "judged",
      tool: "Patch",
      args: {
        files: [
          { path: "a.txt", operation: "write", content: "two" },
          { path: "n.txt", operation: "write", content: "new" },
        ],
      },
      readsOnly: false,
    },
    { type: "judged", tool: "Read", args: { file_path: "/home/you/app/i.png" }, readsOnly: true },
  ]);
});

describe("files of a patch", () => {
  const files = (...lines: readonly string[]) => {
    const call = before("apply_patch", { command: lines.join("\n") });
    const given = call.type === "judged" ? (call.args["files"] as readonly { path: string; operation: string }[]) : [];
    return given.map(({ path, operation }) => `${operation} ${path}`);
  };

  test.each([
    ["moved", ["*** Update File: a", "*** Move to: b", "@@", "+x"], ["delete a", "write b"]],
    ["deleted", ["*** Delete File: a"], ["delete a"]],
    ["deleted and made anew", ["*** Delete File: a", "*** Add File: a", "+x"], ["delete a"]],
    ["behind spaces, as lenient readers take them", ["  *** Add File: a", "+x"], ["write a"]],
    ["in the middle of a hunk", ["*** Update File: a", "@@", " x", " *** Add File: b"], ["write a", "write b"]],
    ["behind ends of lines of all kinds", ["*** Add File: a\r\n+x\r*** Delete File: b"], ["write a", "delete b"]],
    ["with spaces in its name, which stay", ["*** Add File: a b ", "+x"], ["write a b "]],
  ])("%s", (_what, lines, wanted) => {
    expect(files("*** Begin Patch", ...lines, "*** End Patch")).toEqual(wanted);
  });

  test.each(["", "*** Begin Patch\n*** End Patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b"])(
    "a patch that names none is none of its words: %j",
    (patch) => {
      expect(() => before("apply_patch", { command: patch })).toThrow(UnreadableHookInput);
    },
  );
});

test.each([
  ["mcp__files__write", "files"],
  ["Read", "codex"],
  ["web_search", "codex"],
  ["constructor", "codex"],
])("%s is somebody else's tool, of %s, and is never taken for a read", (name, server) => {
  expect(before(name, { a: 1 })).toEqual({ type: "judged", tool: name, args: { a: 1 }, readsOnly: false, server });
});

test.each([
  ["Bash", { command: "ls" }, false],
  ["apply_patch", { command: "*** Add File: a" }, false],
  ["view_image", { path: "a.png" }, true],
  ["mcp__a__b", {}, false],
])("without a gate, %s goes on: %s", (tool_name, tool_input, goesOn) => {
  const common = { session_id: "s", cwd: "/w", hook_event_name: "PreToolUse", tool_use_id: "t" };
  expect(changesNothing(codex.read({ ...common, tool_name, tool_input }))).toBe(goesOn);
});

test.each([
  [undefined],
  [[]],
  [{ hook_event_name: "PreToolUse" }],
  [{ session_id: "s", cwd: "/", hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: "t", tool_input: {} }],
  [
    {
      session_id: "s",
      cwd: "/",
      hook_event_name: "PreToolUse",
      tool_name: "Bash",
      tool_use_id: "t",
      tool_input: { command: ["ls"] },
    },
  ],
])("%j is none of its words", (payload) => {
  expect(() => codex.read(payload)).toThrow(UnreadableHookInput);
});

test("it is told no question: it would take the answer for a fault, and go on", () => {
  const denied = {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "r" },
  };
  expect(codex.asks).toBe(false);
  expect(codex.answer({ type: "allow" })).toBeUndefined();
  expect(codex.answer({ type: "ask", reason: "r" })).toEqual(denied);
  expect(codex.answer({ type: "deny", reason: "r" })).toEqual(denied);
  expect(codex.answer({ type: "stop", reason: "r", before: true })).toEqual(denied);
  expect(codex.answer({ type: "stop", reason: "r", before: false })).toEqual({ continue: false, stopReason: "r" });
});
