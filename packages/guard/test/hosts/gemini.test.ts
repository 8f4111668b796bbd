import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { gemini, geminiEvents } from "#hosts/gemini";
import { changesNothing, type HostCall, UnreadableHookInput } from "#hosts/guarded-host";

/** As Gemini CLI 0.61.0 sent them to a hook. */
const recorded = readFileSync(new URL("gemini-0.61.0.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const told = (hook_event_name: string, tool_name: string, tool_input: object, more: object = {}) =>
  gemini.read({ session_id: "s", cwd: "/home/you/app", hook_event_name, tool_name, tool_input, ...more });
const before = (tool_name: string, tool_input: object, more: object = {}): HostCall => {
  const event = told("BeforeTool", tool_name, tool_input, more);
  if (event.type !== "before") throw new Error(event.type);
  return event.call;
};

describe("what Gemini CLI really told a hook", () => {
  // It took the last one's `@` away, and wrote another file than its path says.
  const readable = recorded.filter((payload) => !JSON.stringify(payload).includes('"@n.txt"'));
  const events = readable.map((payload) => gemini.read(payload));

  test("has every event for which the hook is put in place, and its session's end", () => {
    expect(new Set(recorded.map((payload) => payload["hook_event_name"]))).toEqual(new Set(geminiEvents));
    expect(events.map(({ type }) => type)).toEqual([...Array(8).fill(["before", "after"]).flat(), "idle", "idle"]);
  });

  test("every call that began has its end, known again as the same call", () => {
    const ids = (type: string) =>
      events.flatMap((event) => (event.type === type && "callId" in event ? [event.callId] : []));
    expect(ids("after")).toEqual(ids("before"));
    expect(new Set(ids("before")).size).toBe(8);
    expect(events.flatMap((event) => (event.type === "after" && event.end.failed ? [event.end] : []))).toEqual([
      { failed: true, message: "Exit code 1", exitCode: 1 },
      { failed: true, message: expect.stringContaining("Could not find an exact match") },
    ]);
  });

  test("is a call in the gate's words", () => {
    const calls = events.flatMap((event) =>
      event.type === "before" && event.call.type === "judged" ? [event.call] : [],
    );
    expect(calls.map(({ tool, args, readsOnly }) => [tool, args, readsOnly])).toEqual([
      ["Bash", { command: "ls src", cwd: "/home/you/app" }, false],
      ["Bash", { command: "false", description: "fail", cwd: "/home/you/app/src" }, false],
      ["Read", { file_path: "src/a.txt" }, true],
      ["LS", { path: "src" }, true],
      ["Glob", { pattern: "*.txt", path: "src" }, true],
      ["Grep", { pattern: "one", glob: "*.txt" }, true],
      // It changed src/a.txt, as it does where there is no a.txt.
      ["Edit", { file_path: "a.txt", old_string: "one", new_string: "1", mustExist: true }, false],
      ["Edit", { file_path: "src/a.txt", old_string: "none", new_string: "1", mustExist: true }, false],
    ]);
  });
});

test.each([
  [
    "run_shell_command",
    { command: "ls", is_background: true },
    { args: { command: "ls", cwd: "/home/you/app", run_in_background: true } },
  ],
  ["run_shell_command", { command: "ls", dir_path: "/etc" }, { args: { command: "ls", cwd: "/etc" } }],
  [
    "run_shell_command",
    { command: "ls", additional_permissions: { network: true } },
    { args: { command: "ls", cwd: "/home/you/app", dangerouslyDisableSandbox: true } },
  ],
  [
    "replace",
    { file_path: "/home/you/app/a", old_string: "", new_string: "1" },
    { tool: "Edit", args: { file_path: "/home/you/app/a", old_string: "", new_string: "1" } },
  ],
  ["write_file", { file_path: "a", content: "x" }, { tool: "Write", args: { file_path: "a", content: "x" } }],
  ["list_directory", { dir_path: "" }, { tool: "LS", args: {} }],
  ["google_web_search", { query: "q" }, { tool: "WebSearch", args: { query: "q" }, readsOnly: false }],
  ["web_fetch", { prompt: "read https://a.example" }, { tool: "web_fetch", server: "gemini", readsOnly: false }],
  ["invoke_agent", { agent_name: "x" }, { server: "gemini", readsOnly: false }],
  ["read_many_files", { include: ["**"] }, { server: "gemini", readsOnly: false }],
  ["constructor", {}, { server: "gemini", readsOnly: false }],
])("%s %j", (tool, args, wanted) => {
  expect(before(tool, args)).toMatchObject({ type: "judged", ...wanted });
});

test("a tool of an MCP server is its server's, whatever its name is", () => {
  const more = { mcp_context: { server_name: "files", tool_name: "read" } };
  expect(before("read_file", { file_path: "a" }, more)).toEqual({
    type: "judged",
    tool: "read_file",
    args: { file_path: "a" },
    readsOnly: false,
    server: "files",
  });
});

test.each([
  ["write_todos", { todos: [] }, true],
  ["read_file", { file_path: "a" }, true],
  ["run_shell_command", { command: "ls" }, false],
  ["write_file", { file_path: "a", content: "" }, false],
  ["unknown", {}, false],
])("without a gate, %s goes on: %s", (tool, args, goesOn) => {
  expect(changesNothing(told("BeforeTool", tool, args))).toBe(goesOn);
});

test("of what a command printed, the last line that says an exit code is Gemini CLI's", () => {
  const llmContent = "<x>\nOutput: Exit Code: 7\nExit Code: 0\nExit Code: 2\nProcess Group PGID: 1\n</x>";
  const event = told("AfterTool", "run_shell_command", { command: "x" }, { tool_response: { llmContent } });
  expect(event).toMatchObject({ end: { failed: true, exitCode: 2 } });
});

test.each([
  [undefined],
  [{ hook_event_name: "BeforeTool" }],
  [{ session_id: "s", cwd: "/", hook_event_name: "BeforeTool", tool_name: "run_shell_command", tool_input: {} }],
  [
    {
      session_id: "s",
      cwd: "/",
      hook_event_name: "BeforeTool",
      tool_name: "write_file",
      tool_input: { file_path: "@n", content: "" },
    },
  ],
  [{ session_id: "s", cwd: "/", hook_event_name: "AfterTool", tool_name: "write_file", tool_input: {} }],
])("%j is none of its words", (payload) => {
  expect(() => gemini.read(payload)).toThrow(UnreadableHookInput);
});

test("it is told no question: where nobody sees it, it would wait for ever", () => {
  expect(gemini.asks).toBe(false);
  expect(gemini.answer({ type: "allow" })).toBeUndefined();
  expect(gemini.answer({ type: "ask", reason: "r" })).toEqual({ decision: "deny", reason: "r" });
  expect(gemini.answer({ type: "deny", reason: "r" })).toEqual({ decision: "deny", reason: "r" });
  for (const before of [true, false]) {
    expect(gemini.answer({ type: "stop", reason: "r", before })).toEqual({ continue: false, stopReason: "r" });
  }
  expect(gemini.isAfterCall({ hook_event_name: "AfterAgent" })).toBe(true);
  expect(gemini.isAfterCall({ hook_event_name: "BeforeTool" })).toBe(false);
});
