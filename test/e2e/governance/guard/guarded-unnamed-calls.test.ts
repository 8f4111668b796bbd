import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { recordsInShort } from "./guarded-records.ts";

/** Agents that give their calls no ids: Gemini CLI and Copilot CLI. */

async function guarded() {
  const files = { "src/a.txt": "one\n", "docs/b.txt": "two\n", ".gennai/config.yaml": 'paths:\n  deny: ["docs/**"]\n' };
  const server = await startTestServer({ files });
  const { governance } = server;
  const { root } = server.workspace;
  const tell = async (host: string, payload: object) =>
    (await governance.guardCall({ host, workingDir: root, payload: JSON.parse(JSON.stringify(payload)) })).answer;
  return {
    root,
    gemini: (hook_event_name: string, tool_name: string, tool_input: object, tool_response?: object) =>
      tell("gemini", { session_id: "s", cwd: root, hook_event_name, tool_name, tool_input, tool_response }),
    copilot: (toolName: string, toolArgs: unknown, more: object = {}) =>
      tell("copilot", { sessionId: "s", timestamp: 1, cwd: root, toolName, toolArgs, ...more }),
    records: () => recordsInShort(governance),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const done = { llmContent: "done" };

test("a call and its end are one, and what was written is looked at", async () => {
  await using agent = await guarded();
  const edit = { file_path: "src/a.txt", old_string: "one", new_string: "1" };
  expect(await agent.gemini("BeforeTool", "replace", edit)).toBeUndefined();
  writeFileSync(join(agent.root, "src/a.txt"), "1\n");
  expect(await agent.gemini("AfterTool", "replace", edit, done)).toBeUndefined();
  const created = { path: join(agent.root, "n.txt"), file_text: "n" };
  expect(await agent.copilot("create", created)).toBeUndefined();
  writeFileSync(created.path, "n");
  await agent.copilot("create", created, { toolResult: { resultType: "success", textResultForLlm: "done" } });
  expect(await agent.records()).toEqual([
    "gemini, intent, Edit allow",
    "gemini, outcome, Edit allow verified, update src/a.txt",
    "copilot, intent, Write allow",
    "copilot, outcome, Write allow verified, create n.txt",
  ]);
});

test("an edit by a name that another file might have is refused: Gemini CLI would look for one", async () => {
  await using agent = await guarded();
  const edit = { old_string: "two", new_string: "2" };
  expect(await agent.gemini("BeforeTool", "replace", { file_path: "b.txt", ...edit })).toEqual({
    decision: "deny",
    reason: expect.stringMatching(/b\.txt is not there\. Name the file by its absolute path/),
  });
  const made = { file_path: join(agent.root, "b.txt"), ...edit };
  expect(await agent.gemini("BeforeTool", "replace", made)).toBeUndefined();
});

test("one that ran with other arguments than were judged is on record as failed, and the work ends", async () => {
  await using agent = await guarded();
  const write = { file_path: "src/n.txt", content: "x" };
  expect(await agent.gemini("BeforeTool", "write_file", write)).toBeUndefined();
  expect(await agent.gemini("AfterTool", "write_file", { ...write, content: "y" }, done)).toEqual({
    continue: false,
    stopReason: expect.stringContaining("other arguments"),
  });
  // One of which nothing is known, as after a new start of the server.
  expect(await agent.gemini("AfterTool", "write_file", write, done)).toBeUndefined();
  expect(await agent.records()).toEqual(["gemini, intent, Write allow", "gemini, outcome, Write allow failed"]);
});

test("calls that are the same, at once with others, have each its end, and one that its user refused is not taken for the next", async () => {
  await using agent = await guarded();
  const reads = ["src/a.txt", "src/a.txt", ".gitignore"].map((file_path) => ({ file_path }));
  for (const read of reads) expect(await agent.gemini("BeforeTool", "read_file", read)).toBeUndefined();
  for (const read of reads) expect(await agent.gemini("AfterTool", "read_file", read, done)).toBeUndefined();
  expect(await agent.records()).toEqual([
    ...Array(3).fill("gemini, intent, Read allow"),
    ...Array(3).fill("gemini, outcome, Read allow unverified"),
  ]);
  const touch = { command: "touch x" };
  for (const _time of ["no", "yes"]) {
    expect(await agent.copilot("bash", touch)).toMatchObject({ permissionDecision: "ask" });
  }
  await agent.copilot("bash", touch, { toolResult: { resultType: "success", textResultForLlm: "" } });
  await agent.copilot("", {}, { toolName: undefined, reason: "complete" });
  expect((await agent.records()).slice(6)).toEqual([
    ...Array(2).fill("copilot, intent, Bash ask"),
    "copilot, outcome, Bash ask unverified",
    "copilot, outcome, Bash ask failed",
  ]);
});

test.each([
  ["grep", { pattern: "x", paths: ["src", "docs"] }, /docs/],
  ["grep", { pattern: "x", paths: ["src", "/etc"] }, /outside/],
  ["glob", { pattern: "*", paths: ["src", "../.."] }, /outside/],
  [
    "apply_patch",
    "*** Begin Patch\n*** Add File: src/n.txt\n+x\n*** Add File: docs/n.txt\n+x\n*** End Patch",
    /deny list/,
  ],
])("each place that a call is about is judged: %s %j", async (tool, args, reason) => {
  await using agent = await guarded();
  const answer = await agent.copilot(tool, args);
  expect(answer).toMatchObject({ permissionDecision: "deny", permissionDecisionReason: expect.stringMatching(reason) });
  const inside = typeof args === "string" ? args.replaceAll("docs", "src/x") : { ...args, paths: ["src", "src/a.txt"] };
  expect(await agent.copilot(tool, inside)).toBeUndefined();
});

test("what a rule asks about is a question of Copilot CLI's own, and refused to Gemini CLI, which might wait for ever", async () => {
  await using agent = await guarded();
  expect(await agent.copilot("bash", { command: "touch x" })).toMatchObject({ permissionDecision: "ask" });
  expect(await agent.gemini("BeforeTool", "run_shell_command", { command: "touch x" })).toMatchObject({
    decision: "deny",
    reason: expect.stringContaining("nobody can be asked"),
  });
  await agent.copilot("", {}, { toolName: undefined, stopReason: "end_turn" });
  expect(await agent.records()).toEqual([
    "copilot, intent, Bash ask",
    "gemini, refusal, Bash deny unverified",
    "copilot, outcome, Bash ask failed",
  ]);
});
