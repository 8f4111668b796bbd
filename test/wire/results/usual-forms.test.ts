import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, wireWorld } from "../wire-world.ts";

const files = { "src/a.ts": "one\ntwo\nthree\n", ".env": "KEY=a-secret-of-this-test\n" };

/** What a turn's calls came to, by how each was made. */
async function outcomes(calls: readonly (readonly [string, Readonly<Record<string, unknown>>])[]) {
  await using world = await wireWorld(
    "openai-compatible",
    [{ calls: calls.map(([name, args], at) => call(`c${at}`, name, args)) }, { text: ["Done."] }],
    { files },
  );
  const { server } = world;
  const events = await runTurn(server, await startSession(server), "go");
  expect(endState(events)).toBe("COMPLETED");
  const ledger = await readFile(server.workspace.path(".orchestration/agent_trace.jsonl"), "utf8").catch(() => "");
  return { results: eventsOf(events, "toolResult"), ledger, decided: eventsOf(events, "gateDecision"), server };
}

// The tools of Claude Code, Gemini CLI, Cline and Codex as their sources declare them.
test("takes calls in the words of other agents, and numbers written as text", async () => {
  const { results } = await outcomes([
    ["read", { path: "src/a.ts", offset: "2", limit: "1" }],
    ["Read", { absolute_path: "src/a.ts", explanation: "to see it" }],
    ["grep", { query: "TWO", path: "src", "-A": 1, "-B": "1", output_mode: "content", case_insensitive: "true" }],
    ["LS", { directory: "src", description: "look" }],
    ["Glob", { glob_pattern: "**/*.ts" }],
    ["edit", { filePath: "src/a.ts", old_str: "two", new_str: "zwei", replaceAll: "false" }],
    ["multi_edit", { file: "src/a.ts", edits: [{ old_string: "one", new_string: "eins" }] }],
    ["Write", { filename: "b.txt", contents: "new\n", toolSummary: "a new file" }],
    ["Read", { file_path: "src/a.ts", offset: null, limit: "2" }],
    ["MultiEdit", { path: "src/a.ts", edits: [{ oldText: "eins", newText: "one", reason: "English" }] }],
    ["MultiEdit", { path: "src/a.ts", edits: '[{"old_str": "zwei", "new_str": "two"}]', explanation: "the same" }],
    ["Read", { path: "src/a.ts", offset: "0", limit: 1 }],
    ["Grep", { pattern: "two", glob: "src/**", type: "ts" }],
    ["Grep", { pattern: "one.*three", multiline: "true", type: "ts" }],
    ["Grep", { pattern: "one", context: "1", type: "py" }],
  ]);
  expect(results.map(({ error }) => error)).toEqual(results.map(() => ""));
  const [part, , found] = results;
  const [first, both, lines, kind] = results.slice(-4);
  expect(first?.output).toMatch(/^1\tone\n\[lines 1-1 of/);
  expect([both?.output, lines?.output, kind?.output]).toEqual(["src/a.ts", "src/a.ts", "[no matches]"]);
  expect(part?.output).toContain("2\ttwo");
  expect(found?.output).toMatch(/one[^]*two[^]*three/);
});

// The tools of Codex as its sources declare them: https://github.com/openai/codex/tree/main/codex-rs/core/src/tools
test("takes the tools of Codex, and ignores only what changes nothing here", async () => {
  const terminal = { login: true, tty: false, yield_time_ms: 1_000, max_output_tokens: 4_000 };
  const { results } = await outcomes([
    ["exec_command", { cmd: "echo a", workdir: "src", ...terminal, justification: "to see" }],
    ["shell", { command: ["bash", "-lc", "echo b | cat"], timeout_ms: 10_000 }],
    ["shell", { command: ["echo", "a  b", "$HOME"] }],
    ["shell_command", { command: "echo d", sandbox_permissions: "use_default" }],
    ["read_file", { file_path: "src/a.ts", offset: 1, limit: 1 }],
    ["update_plan", { explanation: "first", plan: [{ step: "Look", status: "in_progress" }] }],
    ["list_dir", { dir_path: "src" }],
    ["exec_command", { cmd: "echo e", dry_run: true }],
    ["Read", { file_path: "src/a.ts", tty: true }],
  ]);
  expect(results.map(({ error }) => error === "")).toEqual([true, true, true, true, true, true, true, false, false]);
  const outputs = results.map(({ output }) => output.split("\n")[0]);
  expect(outputs.slice(0, 4)).toEqual(["a", "b", "a  b $HOME", "d"]);
  expect(results[5]?.output).toContain("Look");
});

test("takes Claude Code's todos, but no field that it does not know", async () => {
  const { results } = await outcomes([
    ["TodoWrite", { todos: [{ content: "Look", status: "pending", activeForm: "Looking" }] }],
    ["TodoWrite", { todos: [{ content: "Look", status: "pending", owner: "me" }] }],
  ]);
  expect(results.map(({ error }) => error === "")).toEqual([true, false]);
});

test("is still judged, and says of what it cannot know that it does not fit", async () => {
  const { results, decided } = await outcomes([
    ["read", { path: ".env" }],
    ["Edit", { path: "src/a.ts", old_str: "two", new_str: "2", dry_run: true }],
    ["Write", { path: "b.txt", file_path: "c.txt", content: "x" }],
    ["Read", { path: "../outside" }],
    ["Edit", { path: "src/a.ts", old_str: null, new_str: "2" }],
    ["MultiEdit", { path: "src/a.ts", edits: '[{"old_str": "one", "old_str": "two", "new_str": "2"}]' }],
    ["MultiEdit", { path: "src/a.ts", edits: [{ old_str: "one", new_str: "1", regex: true }] }],
    ["Grep", { pattern: "x", type: "ts", glob: "*.js" }],
  ]);
  expect(results.map(({ error }) => error !== "")).toEqual(results.map(() => true));
  expect(JSON.stringify(results)).not.toContain("a-secret-of-this-test");
  // Rules see the tool's own name, whatever the model calls it.
  expect(decided[0]).toMatchObject({ toolName: "Read", rule: expect.stringMatching(/./) });
  expect(results[1]?.output).toContain("dry_run");
  expect(results[1]?.output).not.toContain("old_str\\");
});
