import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { claudeCode } from "#hosts/claude-code";
import { copilot } from "#hosts/copilot";
import { changesNothing, type HostCall, UnreadableHookInput } from "#hosts/guarded-host";

/** As Copilot CLI 1.0.102 sent them to a hook. */
const recorded = readFileSync(new URL("copilot-1.0.102.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const told = (toolName: string, toolArgs: unknown) =>
  copilot.read({ sessionId: "s", timestamp: 1, cwd: "/home/you/app", toolName, toolArgs });
const before = (toolName: string, toolArgs: unknown): HostCall => {
  const event = told(toolName, toolArgs);
  if (event.type !== "before") throw new Error(event.type);
  return event.call;
};

describe("what Copilot CLI really told a hook", () => {
  const events = recorded.map((payload) => copilot.read(payload));

  test("is each call and its end, and that it came to rest", () => {
    expect(events.map(({ type }) => type)).toEqual([
      ...Array(8).fill(["before", "after"]).flat(),
      ...["idle", "idle", "before", "after", "idle", "idle"],
    ]);
    expect(recorded.map((payload) => copilot.isAfterCall(payload))).toEqual(
      events.map(({ type }) => type !== "before"),
    );
    const ids = (type: string) =>
      events.flatMap((event) => (event.type === type && "callId" in event ? [event.callId] : []));
    expect(ids("after")).toEqual(ids("before"));
    expect(events.flatMap((event) => (event.type === "after" && event.end.failed ? [event.end] : []))).toEqual([
      { failed: true, message: "Exit code 1", exitCode: 1 },
      { failed: true, message: "Path does not exist" },
      { failed: true, message: "No match found" },
    ]);
  });

  test("is a call in the gate's words", () => {
    const calls = events.flatMap((event) =>
      event.type === "before" && event.call.type === "judged" ? [event.call] : [],
    );
    expect(calls.map(({ tool, args, readsOnly }) => [tool, args, readsOnly])).toEqual([
      ["Bash", { command: "ls src", description: "list", cwd: "/home/you/app" }, false],
      ["Bash", { command: "false", description: "fail", cwd: "/home/you/app" }, false],
      ["Read", { file_path: "/none" }, true],
      ["Edit", { file_path: "src/a.txt", old_string: "one", new_string: "1" }, false],
      ["Edit", { file_path: "src/a.txt", old_string: "none", new_string: "1" }, false],
      ["Write", { file_path: "n.txt", content: "x" }, false],
      ["Grep", { pattern: "1", path: "src", or: ["n.txt"] }, true],
      ["Glob", { pattern: "**/*.txt" }, true],
      ["Patch", { files: [{ path: "n.txt", operation: "write", content: "x" }] }, false],
    ]);
  });
});

test.each([
  [
    "bash",
    { command: "ls", mode: "async" },
    { args: { command: "ls", cwd: "/home/you/app", run_in_background: true } },
  ],
  [
    "rg",
    { pattern: "x", paths: "src", glob: "*.ts" },
    { tool: "Grep", args: { pattern: "x", path: "src", glob: "*.ts" } },
  ],
  ["web_fetch", { url: "https://a.example" }, { tool: "WebFetch", args: { url: "https://a.example" } }],
  ["sql", { query: "ATTACH 'x'" }, { tool: "sql", server: "copilot", readsOnly: false }],
  ["skill", { skill: "x" }, { server: "copilot", readsOnly: false }],
  ["files-read_file", { path: "a" }, { server: "copilot", readsOnly: false }],
  ["constructor", {}, { server: "copilot", readsOnly: false }],
])("%s %j", (tool, args, wanted) => {
  expect(before(tool, args)).toMatchObject({ type: "judged", ...wanted });
});

test.each([
  ["task", { prompt: "p" }, true],
  ["view", { path: "a" }, true],
  ["bash", { command: "ls" }, false],
  ["apply_patch", "*** Add File: a", false],
  ["unknown", {}, false],
])("without a gate, %s goes on: %s", (tool, args, goesOn) => {
  expect(changesNothing(told(tool, args))).toBe(goesOn);
});

test.each(["reason", "stopReason"])("a call stays one, should it say a %s one day", (name) => {
  const payload = { sessionId: "s", cwd: "/", toolName: "bash", toolArgs: { command: "ls" }, [name]: "r" };
  expect(copilot.read(payload).type).toBe("before");
  expect(copilot.isAfterCall(payload)).toBe(false);
});

test.each([
  [undefined],
  [{ sessionId: "s", toolName: "bash", toolArgs: { command: "ls" } }],
  [{ sessionId: "s", cwd: "/", toolName: "bash", toolArgs: {} }],
  [{ sessionId: "s", cwd: "/", toolName: "apply_patch", toolArgs: { input: "*** Add File: a" } }],
  [{ sessionId: "s", cwd: "/", toolName: "unknown", toolArgs: "text" }],
])("%j is none of its words", (payload) => {
  expect(() => copilot.read(payload)).toThrow(UnreadableHookInput);
});

test("it asks its user itself; after a call nothing keeps it from going on", () => {
  const reason = { permissionDecisionReason: "r" };
  expect(copilot.asks).toBe(true);
  expect(copilot.answer({ type: "allow" })).toBeUndefined();
  expect(copilot.answer({ type: "ask", reason: "r" })).toEqual({ permissionDecision: "ask", ...reason });
  expect(copilot.answer({ type: "deny", reason: "r" })).toEqual({ permissionDecision: "deny", ...reason });
  expect(copilot.answer({ type: "stop", reason: "r", before: true })).toEqual({
    permissionDecision: "deny",
    ...reason,
  });
  expect(copilot.answer({ type: "stop", reason: "r", before: false })).toBeUndefined();
});

test("the hook in Claude Code's settings, which it starts as well, lets its calls go on; what only lacks an id is refused", () => {
  const payload = {
    hook_event_name: "PreToolUse",
    session_id: "s",
    cwd: "/home/you/app",
    tool_name: "Bash",
    tool_input: { command: "ls" },
  };
  expect(claudeCode.read({ ...payload, timestamp: "2026-11-26T08:51:46.271Z" })).toEqual({ type: "other" });
  for (const more of [{}, { timestamp: "x", transcript_path: "/x" }, { timestamp: "x", permission_mode: "default" }]) {
    expect(() => claudeCode.read({ ...payload, ...more })).toThrow(UnreadableHookInput);
  }
});
