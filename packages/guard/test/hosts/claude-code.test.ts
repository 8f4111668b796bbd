import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { claudeCode, claudeCodeEvents } from "#hosts/claude-code";
import { changesNothing, type HostCall, UnreadableHookInput } from "#hosts/guarded-host";

interface Recorded {
  readonly hook_event_name: string;
  readonly tool_name?: string;
  readonly tool_use_id?: string;
}

/** As Claude Code 2.1.330 sent them to a hook, ConfigChange as 2.1.332 did. */
const recorded = readFileSync(new URL("claude-code-2.1.330.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded);

function before(tool_name: string, tool_input: Readonly<Record<string, unknown>>): HostCall {
  const common = { session_id: "s1", cwd: "/home/you/app/src", hook_event_name: "PreToolUse", tool_use_id: "t1" };
  const event = claudeCode.read({ ...common, tool_name, tool_input });
  if (event.type !== "before") throw new Error(event.type);
  return event.call;
}

describe("what Claude Code really told a hook", () => {
  test.each(recorded.map((payload, index) => [`${index} ${payload.hook_event_name}`, payload] as const))(
    "%s is read",
    (_name, payload) => {
      const event = claudeCode.read(payload);
      const types = {
        PreToolUse: "before",
        ConfigChange: "before",
        PostToolUse: "after",
        PostToolUseFailure: "after",
      } as const;
      const ends = ["Stop", "SessionEnd"].includes(payload.hook_event_name) ? "idle" : "other";
      expect(event.type).toBe(types[payload.hook_event_name as keyof typeof types] ?? ends);
      if ("callId" in event && "tool_use_id" in payload) expect(event.callId).toBe(payload.tool_use_id);
    },
  );

  test("the recording has every event for which the hook is put in place", () => {
    expect(new Set(recorded.map(({ hook_event_name }) => hook_event_name))).toEqual(new Set(claudeCodeEvents));
  });

  test("every call that began has its end in it, under the same id, and a failure its exit code", () => {
    const events = recorded.filter((payload) => "tool_use_id" in payload).map((payload) => claudeCode.read(payload));
    const ids = (type: string) =>
      events.flatMap((event) => (event.type === type && "callId" in event ? [event.callId] : []));
    expect(ids("after").toSorted()).toEqual(ids("before").toSorted());
    expect(events.flatMap((event) => (event.type === "after" && event.end.failed ? [event.end] : []))).toEqual([
      { failed: true, message: "Exit code 1", exitCode: 1 },
    ]);
  });
});

describe("its calls in the words of the gate's tools", () => {
  test.each([
    ["Bash", { command: "ls", timeout: 5 }, { command: "ls", cwd: "/home/you/app/src" }],
    [
      "Bash",
      { command: "ls", run_in_background: true, dangerouslyDisableSandbox: true },
      { command: "ls", cwd: "/home/you/app/src", run_in_background: true, dangerouslyDisableSandbox: true },
    ],
    ["Read", { file_path: "/work/a", offset: 3, limit: 9, pages: "1-2" }, { file_path: "/work/a" }],
    ["Grep", { pattern: "x", "-n": true, output_mode: "content" }, { pattern: "x" }],
    ["Write", { file_path: "/work/a", content: "" }, { file_path: "/work/a", content: "" }],
  ])("%s", (name, input, args) => {
    expect(before(name, input)).toMatchObject({ type: "judged", tool: name, args });
  });

  test.each([
    ["TodoWrite", { todos: [] }],
    ["Task", { prompt: "delete everything" }],
    ["Agent", { prompt: "delete everything", isolation: "worktree" }],
    ["AskUserQuestion", {}],
  ])("%s is the agent's own business", (name, input) => {
    expect(before(name, input)).toEqual({ type: "own" });
  });

  test.each([
    ["mcp__files__write", "files"],
    ["mcp__a__b__c", "a"],
    ["FutureTool", "claude-code"],
    ["constructor", "claude-code"],
    ["__proto__", "claude-code"],
    ["bash", "claude-code"],
  ])("%s is somebody else's tool, of %s, and is never taken for a read", (name, server) => {
    expect(before(name, { a: 1 })).toEqual({ type: "judged", tool: name, args: { a: 1 }, readsOnly: false, server });
  });

  test.each([
    ["Agent", { isolation: "remote" }],
    ["Task", { isolation: ["worktree"] }],
    ["Skill", { skill: "deploy" }],
    ["SlashCommand", { command: "/deploy" }],
  ])("%s %j does what no hook is told of", (name, input) => {
    expect(before(name, input)).toEqual({
      type: "judged",
      tool: name,
      args: input,
      readsOnly: false,
      server: "claude-code",
    });
  });

  test("what ran is told at the end, without where it stands by then", () => {
    const payload = { session_id: "s", cwd: "/elsewhere", hook_event_name: "PostToolUse", tool_use_id: "t" };
    const event = claudeCode.read({ ...payload, tool_name: "Bash", tool_input: { command: "ls" } });
    expect(event).toMatchObject({ type: "after", ran: { type: "judged", tool: "Bash", args: { command: "ls" } } });
  });

  test.each([
    ["Read", true],
    ["Glob", true],
    ["Grep", true],
    ["LS", true],
    ["TodoWrite", true],
    ["Bash", false],
    ["Write", false],
    ["Edit", false],
    ["NotebookEdit", false],
    ["WebFetch", false],
    ["WebSearch", false],
    ["mcp__s__read", false],
    ["Unknown", false],
  ])("without a gate, %s goes on: %s", (tool_name, goesOn) => {
    const common = { session_id: "s", cwd: "/w", hook_event_name: "PreToolUse", tool_use_id: "t" };
    // What is nested in the input is no word of the agent's.
    const payload = { ...common, tool_name, tool_input: { tool_name: "Read", hook_event_name: "Stop" } };
    expect(changesNothing(claudeCode.read(payload))).toBe(goesOn);
  });
});

test.each([
  ["nothing", undefined],
  ["a list", []],
  ["no session", { hook_event_name: "PreToolUse" }],
  ["a session without a name", { session_id: "", hook_event_name: "Stop" }],
  [
    "a call without an id",
    { session_id: "s", cwd: "/", hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: {} },
  ],
  [
    "input that is a list",
    { session_id: "s", cwd: "/", hook_event_name: "PreToolUse", tool_name: "Bash", tool_use_id: "t", tool_input: [] },
  ],
  [
    "a name of megabytes",
    {
      session_id: "s",
      cwd: "/",
      hook_event_name: "PreToolUse",
      tool_name: "B".repeat(1e6),
      tool_use_id: "t",
      tool_input: {},
    },
  ],
])("what is none of its words: %s is refused", (_what, payload) => {
  expect(() => claudeCode.read(payload)).toThrow(UnreadableHookInput);
});

test("its answers are those of its reference; a yes of the gate is none to its own questions", () => {
  const decision = (permissionDecision: string) => ({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason: "r" },
  });
  expect(claudeCode.answer({ type: "allow" })).toBeUndefined();
  expect(claudeCode.answer({ type: "ask", reason: "r" })).toEqual(decision("ask"));
  expect(claudeCode.answer({ type: "deny", reason: "r" })).toEqual(decision("deny"));
  expect(claudeCode.answer({ type: "stop", reason: "r", before: true })).toEqual({
    continue: false,
    stopReason: "r",
    ...decision("deny"),
  });
  const settings = recorded.find(({ hook_event_name }) => hook_event_name === "ConfigChange");
  const block = { decision: "block", reason: "r" };
  expect(claudeCode.answer({ type: "deny", reason: "r" }, claudeCode.read(settings))).toEqual(block);
  expect(claudeCode.isAfterCall(settings)).toBe(false);
  expect(claudeCode.answer({ type: "stop", reason: "r", before: false })).toEqual({ continue: false, stopReason: "r" });
});
