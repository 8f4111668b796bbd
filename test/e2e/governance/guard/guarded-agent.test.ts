import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { HookedAgent } from "./hooked-agent.ts";

const files = { "src/a.ts": "one\n", "docs/b.md": "two\n", ".gennai/config.yaml": 'paths:\n  deny: ["docs/**"]\n' };

test("what no rule minds goes its own way, is on record before it runs, and its end after it", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const { root } = server.workspace;
  const read = await agent.wants("Read", { file_path: join(root, "src/a.ts") });
  expect(read.says).toBe("goes its own way");
  await agent.did(read.id);
  const edit = await agent.wants("Edit", { file_path: join(root, "src/a.ts"), old_string: "one", new_string: "1" });
  expect(edit.says).toBe("goes its own way");
  expect((await agent.records()).at(-1)).toBe("claude-code, intent, Edit allow");
  writeFileSync(join(root, "src/a.ts"), "1\n");
  await agent.did(edit.id);
  const write = await agent.wants("Write", { file_path: join(root, "new.txt"), content: "new" });
  writeFileSync(join(root, "new.txt"), "new");
  await agent.did(write.id);
  const ls = await agent.wants("Bash", { command: "ls nowhere" });
  await agent.did(ls.id, "Exit code 2\nls: cannot access 'nowhere'");
  expect(await agent.records()).toEqual([
    "claude-code, intent, Read allow",
    "claude-code, outcome, Read allow unverified",
    "claude-code, intent, Edit allow",
    "claude-code, outcome, Edit allow verified, update src/a.ts",
    "claude-code, intent, Write allow",
    "claude-code, outcome, Write allow verified, create new.txt",
    "claude-code, intent, Bash allow",
    "claude-code, outcome, Bash allow failed 2",
  ]);
  expect((await agent.governance.verifyLedger({})).status).toBe("ok");
});

test("what was written is looked at: the agent's word is not evidence", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const path = join(server.workspace.root, "new.txt");
  const other = await agent.wants("Write", { file_path: path, content: "new" });
  writeFileSync(path, "something else");
  await agent.did(other.id);
  const nothing = await agent.wants("Write", { file_path: path, content: "newer" });
  await agent.did(nothing.id);
  expect((await agent.records()).filter((record) => record.includes("outcome"))).toEqual([
    "claude-code, outcome, Write allow unverified, create new.txt",
    "claude-code, outcome, Write allow unverified",
  ]);
});

test("what its rules refuse is denied, and on record", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const edit = { old_string: "two", new_string: "x" };
  for (const [tool, path, change] of [
    ["Edit", "docs/b.md", edit],
    ["Write", "docs/c.md", { content: "x" }],
    ["Write", "/etc/passwd", { content: "x" }],
    ["Write", "src/../../x", { content: "x" }],
    ["Write", ".git/config", { content: "x" }],
    ["Write", ".claude/settings.local.json", { content: "x" }],
    ["Write", ".env", { content: "x" }],
  ] as const) {
    const { says, reason } = await agent.wants(tool, { file_path: path, ...change });
    expect([path, says, reason]).toEqual([path, "deny", expect.stringContaining("Gennai, rule")]);
    expect((await agent.records()).at(-1)).toContain(`claude-code, refusal, ${tool} deny`);
  }
});

test("settings that change while it runs are kept out of its session; a trial of its hook leaves no record", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const file_path = join(server.workspace.root, ".claude/settings.json");
  const block = { decision: "block", reason: expect.stringContaining("next session") };
  for (const source of ["local_settings", "project_settings", "user_settings"])
    expect(await agent.tell("ConfigChange", { source, file_path })).toEqual(block);
  // No hook can refuse those of an administrator.
  for (const source of ["policy_settings", "skills"])
    expect(await agent.tell("ConfigChange", { source, file_path })).toBeUndefined();
  const tried = new HookedAgent(server, "gennai-probe");
  expect((await tried.wants("Read", { file_path })).says).toBe("deny");
  expect(await agent.records()).toEqual(
    Array.from({ length: 3 }, () => "claude-code, refusal, ConfigChange deny unverified"),
  );
});

test("a protected branch holds for it, and another program's tools are asked about each time", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  for (const _time of [1, 2]) expect((await agent.wants("mcp__files__read", { path: "src/a.ts" })).says).toBe("ask");
  expect((await agent.wants("mcp__files__read", { path: "~/.ssh/id_rsa" })).says).toBe("deny");
  expect((await agent.wants("WebFetch", { url: "https://example.com/", prompt: "x" })).says).toBe("deny");
  expect((await agent.wants("WebSearch", { query: "x" })).says).toBe("ask");
  expect((await agent.wants("TodoWrite", { todos: [] })).says).toBe("goes its own way");
  await server.workspace.git("switch", "--quiet", "main");
  const { says, reason } = await agent.wants("Write", { file_path: "src/new.ts", content: "x" });
  expect([says, reason]).toEqual(["deny", expect.stringContaining("branch")]);
});

test("a question is the agent's to ask: the record says so, and what never ran is never told as run", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const yes = await agent.wants("Bash", { command: "touch x" });
  expect(yes).toMatchObject({ says: "ask", reason: expect.stringContaining("not proven to only read") });
  await agent.did(yes.id);
  await agent.wants("Bash", { command: "touch y" });
  await agent.tell("Stop");
  const ends = (await agent.metadata()).filter(({ kind }) => kind === "outcome");
  expect(ends.map(({ calls: [call] }) => [call?.confirmation, call?.failure_class])).toEqual([
    [{ answer: "passed-on", by: "claude-code" }, undefined],
    [{ answer: "passed-on", by: "claude-code" }, "command_error"],
  ]);
});

test("the agent's own search knows no rules: it is refused where it would reach what ours leaves out", async () => {
  await using server = await startTestServer({ files: { ...files, "src/sub/.env": "x\n", "lib/c.ts": "x\n" } });
  const agent = new HookedAgent(server);
  for (const [input, says] of [
    [{ path: "lib" }, "goes its own way"],
    [{ path: "lib/c.ts" }, "goes its own way"],
    [{ glob: "*.ts" }, "goes its own way"],
    [{}, "deny"],
    [{ path: "src" }, "deny"],
    [{ glob: "*" }, "deny"],
    [{ glob: "*.ts *.md" }, "deny"],
    [{ glob: "!*.ts" }, "deny"],
    [{ path: "lib", glob: "*.ts .env" }, "deny"],
  ] as const) {
    const answer = await agent.wants("Grep", { pattern: "x", ...input });
    expect([input, answer.says]).toEqual([input, says]);
  }
  expect((await agent.wants("Grep", { pattern: "x" })).reason).toContain("Narrow the search");
});

test("a path that means two places is refused: behind a link, and with spaces around it", async () => {
  await using server = await startTestServer({ files: { ...files, "a/b/c.ts": "x\n" } });
  const agent = new HookedAgent(server);
  symlinkSync("a/b", join(server.workspace.root, "link"));
  for (const [tool, input, says] of [
    ["LS", { path: "link" }, "goes its own way"],
    ["LS", { path: "src/../a" }, "goes its own way"],
    ["LS", { path: "link/.." }, "deny"],
    ["Grep", { pattern: "x", path: "link/../b" }, "deny"],
    ["Glob", { pattern: "*", path: " /etc" }, "deny"],
    ["Glob", { pattern: "*", path: "~" }, "deny"],
    ["Glob", { pattern: "link/../*" }, "deny"],
    ["Glob", { pattern: "src/*" }, "goes its own way"],
    ["Read", { file_path: " /etc/hostname" }, "deny"],
  ] as const) {
    expect([tool, input, (await agent.wants(tool, input)).says]).toEqual([tool, input, says]);
  }
});

test("a command without the agent's own sandbox is asked about, also one that only reads", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const { says, reason } = await agent.wants("Bash", { command: "ls", dangerouslyDisableSandbox: true });
  expect([says, reason]).toEqual(["ask", expect.stringContaining("sandbox")]);
  expect((await agent.wants("Bash", { command: "ls", run_in_background: true })).says).toBe("goes its own way");
});

test("what skills and far sub-agents do no hook is told of: they are asked about", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  expect((await agent.wants("Skill", { skill: "deploy" })).says).toBe("ask");
  expect((await agent.wants("Agent", { prompt: "work", isolation: "remote" })).says).toBe("ask");
  expect((await agent.wants("Agent", { prompt: "work" })).says).toBe("goes its own way");
});

test("a call that ran with other arguments than were judged stops the agent, and is on record as that", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const same = await agent.wants("Bash", { command: "ls" });
  const common = { tool_name: "Bash", cwd: join(server.workspace.root, "src") };
  const end = { ...common, tool_use_id: same.id, tool_input: { command: "ls", timeout: 5 } };
  expect(await agent.tell("PostToolUse", end)).toBeUndefined();
  const other = await agent.wants("Bash", { command: "ls" });
  const changed = { ...common, tool_use_id: other.id, tool_input: { command: "touch x" } };
  expect(await agent.tell("PostToolUse", changed)).toMatchObject({
    continue: false,
    stopReason: expect.stringContaining("other arguments"),
  });
  expect((await agent.records()).filter((record) => record.includes("outcome"))).toEqual([
    "claude-code, outcome, Bash allow unverified",
    "claude-code, outcome, Bash allow failed",
  ]);
});

test("its session is deleted: then it begins anew", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  await agent.did((await agent.wants("Bash", { command: "ls" })).id);
  const { sessions } = await server.client.listSessions({});
  await server.client.deleteSession({ sessionId: sessions[0]?.sessionId ?? "" });
  expect((await agent.wants("Bash", { command: "ls" })).says).toBe("goes its own way");
  expect((await server.client.listSessions({})).sessions).toHaveLength(1);
});

test("emergency controls hold for it at once, also for what runs already", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  const set = (control: EmergencyControl, enabled: boolean) =>
    agent.governance.setEmergencyControl({ control, enabled, by: "me", reason: "test" });
  const running = await agent.wants("Bash", { command: "ls" });
  await set(EmergencyControl.READ_ONLY, true);
  expect((await agent.wants("Write", { file_path: "x.txt", content: "x" })).reason).toContain("emergency/read-only");
  expect((await agent.wants("Read", { file_path: "src/a.ts" })).says).toBe("goes its own way");
  await set(EmergencyControl.READ_ONLY, false);
  await set(EmergencyControl.STOP_ALL, true);
  expect(await agent.wants("Read", { file_path: "src/a.ts" })).toMatchObject({ says: "deny", goesOn: false });
  expect(await agent.wants("TodoWrite", {})).toMatchObject({ says: "deny", goesOn: false });
  expect(await agent.did(running.id)).toMatchObject({ continue: false });
  const ended = (await agent.records()).filter((record) => record.includes("outcome, Bash"));
  expect(ended).toHaveLength(1);
});

test("calls that it makes at once are judged each by itself, and each has its end", async () => {
  await using server = await startTestServer({ files });
  const agent = new HookedAgent(server);
  await Promise.all(
    [1, 2, 3, 4].map(async (n) => {
      const { id, says } = await agent.wants("Write", { file_path: `n${n}.txt`, content: "x" }, `p${n}`);
      expect(says).toBe("goes its own way");
      await agent.did(id);
    }),
  );
  expect((await agent.records()).filter((record) => record.includes("outcome"))).toHaveLength(4);
});

test("its sessions are ours in the list, one for each; a rule file that is broken denies, a file that is gone does not", async () => {
  await using server = await startTestServer({ files });
  const [one, two] = [new HookedAgent(server, "one"), new HookedAgent(server, "two")];
  for (const agent of [one, two, one]) await agent.did((await agent.wants("Bash", { command: "ls" })).id);
  const { sessions } = await server.client.listSessions({});
  expect(sessions.map(({ title }) => title)).toEqual(["Claude Code, guarded", "Claude Code, guarded"]);
  writeFileSync(join(server.workspace.root, ".gennai/config.yaml"), "paths: [");
  await expect(one.wants("Write", { file_path: "x.txt", content: "x" })).rejects.toThrow();
  rmSync(join(server.workspace.root, ".gennai/config.yaml"));
  expect((await one.wants("Write", { file_path: "x.txt", content: "x" })).says).toBe("goes its own way");
});

test("what is not an agent, and no word of one, is refused", async () => {
  await using server = await startTestServer();
  const { governance } = new HookedAgent(server);
  await expect(governance.guardCall({ host: "nobody", payload: {} })).rejects.toMatchObject({
    code: Code.InvalidArgument,
  });
  await expect(governance.guardCall({ host: "claude-code" })).rejects.toMatchObject({ code: Code.InvalidArgument });
  await expect(
    governance.guardCall({ host: "claude-code", payload: { session_id: "s", hook_event_name: "PreToolUse" } }),
  ).rejects.toMatchObject({ code: Code.InvalidArgument });
  expect(readFileSync(join(server.workspace.root, "README.md"), "utf8")).toBe("# Test\n");
});
