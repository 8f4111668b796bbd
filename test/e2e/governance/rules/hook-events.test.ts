import { readFile, writeFile } from "node:fs/promises";
import { call as scripted } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { userConfig } from "@gennai/testkit/user-config";
import { expect, test, vi } from "vitest";
import { call } from "../../../wire/wire-world.ts";
import { messagesOf, providerWorld } from "../../long-sessions/provider-world.ts";
import { endState, eventsOf, runTurn, startSession, Watcher } from "../../rpc/session-client.ts";

const read = scripted("Read", { file_path: "README.md" });

/** One program for each of these events, as the user's own, by the contract's format. */
async function withHooks(commands: Readonly<Record<string, string>>) {
  const hooks = Object.entries(commands).map(([event, command]) => [
    event,
    [{ hooks: [{ type: "command", command }] }],
  ]);
  const config = await userConfig({ "hooks.json": { hooks: Object.fromEntries(hooks) } });
  const file = config.path("hooks.json");
  return { file, server: { environment: config.environment }, [Symbol.asyncDispose]: config[Symbol.asyncDispose] };
}

test("from its start to its end a session tells its hooks what happens", async () => {
  const note = 'printf "%s\\n" "$(cat)" >> told.jsonl';
  const events = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"];
  const commands = [...events, "PermissionDenied", "Stop", "SessionEnd"].map((event) => [event, note] as const);
  await using hooks = await withHooks(Object.fromEntries(commands));
  const steps = [
    read,
    scripted("Read", { file_path: "none.txt" }),
    scripted("Read", { file_path: ".env" }),
    { text: ["Over."] },
  ];
  const script = [
    { match: "^do", steps },
    { match: ".", steps: [{ text: ["Over."] }] },
  ];
  await using server = await startTestServer({ ...hooks, script });
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "do it");
  await runTurn(server, sessionId, "again");
  await client.clearSession({ sessionId });
  await client.clearSession({ sessionId });
  const lines = (await readFile(workspace.path("told.jsonl"), "utf8")).trim().split("\n");
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(told.map((each) => each["hook_event_name"])).toEqual([
    ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PreToolUse", "PostToolUse", "PostToolUseFailure"],
    ...["PermissionDenied", "Stop", "UserPromptSubmit", "Stop", "SessionEnd"],
  ]);
  const about = (event: string) => told.filter((each) => each["hook_event_name"] === event);
  expect(about("SessionStart")).toMatchObject([{ source: "startup", session_id: sessionId, cwd: workspace.root }]);
  expect(about("UserPromptSubmit")).toMatchObject([{ prompt: "do it" }, { prompt: "again" }]);
  expect(about("PermissionDenied").at(-1)).toMatchObject({ tool_input: { file_path: ".env" } });
  expect(about("Stop")[0]).toMatchObject({ stop_hook_active: false, last_assistant_message: "Over." });
  expect(about("SessionEnd")).toMatchObject([{ reason: "clear" }]);
});

test("a hook is told of settings that changed between two turns, and refuses them even where they take it away", async () => {
  const looks = `told=$(cat); case $told in *project*) printf '%s' "$told" > told.json;; *) echo 'not now' >&2; exit 2;; esac`;
  await using hooks = await withHooks({ ConfigChange: looks });
  await using server = await startTestServer({ ...hooks, steps: [{ text: ["Over."] }] });
  const { workspace } = server;
  const sessionId = await startSession(server);
  const turn = async () => endState(await runTurn(server, sessionId, "go on"));
  expect(await turn()).toBe("COMPLETED");
  const file = workspace.path(".mcp.json");
  await writeFile(file, "{}");
  expect(await turn()).toBe("COMPLETED");
  expect(JSON.parse(await readFile(workspace.path("told.json"), "utf8"))).toMatchObject({
    hook_event_name: "ConfigChange",
    source: "project_settings",
    file_path: file,
  });
  await writeFile(hooks.file, '{"hooks":{}}');
  for (const _time of [1, 2])
    await expect(turn()).rejects.toMatchObject({
      rawMessage: expect.stringMatching(/refused the change of .*hooks\.json: .*not now/),
    });
});

test("a hook refuses a prompt, and gives a turn what its model is to know", async () => {
  const command = `grep -q secret && { echo 'say it without the secret' >&2; exit 2; }; echo 'today is a Friday'`;
  await using hooks = await withHooks({ UserPromptSubmit: command });
  await using server = await startTestServer({ ...hooks, steps: [{ text: ["Over."] }] });
  const sessionId = await startSession(server);
  await expect(runTurn(server, sessionId, "the secret")).rejects.toThrow("say it without the secret");
  const events = await runTurn(server, sessionId, "go on");
  expect(endState(events)).toBe("COMPLETED");
  expect(eventsOf(events, "contextAdded")).toMatchObject([{ items: [{ name: "what your hooks said" }] }]);
});

test.each([
  ["until it is content", "test -e new.txt || { echo 'write new.txt first' >&2; exit 2; }", "COMPLETED", 3],
  ["not for ever", "echo 'once more' >&2; exit 2", "ERROR", 10],
  ["and one that fails lets no turn pass as completed", "exit 1", "ERROR", 1],
])("a Stop hook has the agent go on, %s", async (_name, command, end, requests) => {
  await using hooks = await withHooks({ Stop: command });
  await using world = await providerWorld(
    (count) =>
      count === 2
        ? { calls: [call("c1", "Write", { file_path: "new.txt", content: "new\n" })] }
        : { text: [`Done ${count}.`] },
    hooks,
  );
  const events = await runTurn(world.server, await startSession(world.server), "do it");
  expect(endState(events)).toBe(end);
  expect(world.provider.requests).toHaveLength(requests);
  const told = messagesOf(world.provider.requests[1]).at(-1)?.content ?? "";
  if (requests > 1) expect(told).toContain("The user's hook says, before you end");
});

test("a sub-agent's end and its calls are told, with its conversation's notes", async () => {
  await using hooks = await withHooks({
    SubagentStop: `grep -q '"stop_hook_active":true' || { echo 'name the file' >&2; exit 2; }`,
    PostToolUse: "echo 'look at it twice' >&2; exit 2",
  });
  await using world = await providerWorld((_count, request) => {
    const said = messagesOf(request);
    const results = said.filter(({ role }) => role === "tool").length;
    if (said.some(({ role, content }) => role === "user" && content === "look")) {
      if (results === 0) return { calls: [call("s1", "Read", { file_path: "README.md" })] };
      return { text: [said.at(-1)?.content.includes("name the file") === true ? "README.md" : "It."] };
    }
    return results === 0
      ? { calls: [call("c1", "Explore", { description: "look", prompt: "look" })] }
      : { text: ["All done."] };
  }, hooks);
  const events = await runTurn(world.server, await startSession(world.server), "do it");
  expect(endState(events)).toBe("COMPLETED");
  const outputs = world.provider.requests.flatMap((request) =>
    messagesOf(request).flatMap(({ role, content }) => (role === "tool" ? [content] : [])),
  );
  expect(outputs.join()).toContain("[The user's hook echo says: look at it twice]");
  expect(outputs.at(-1)).toMatch(/^README\.md/);
});

test("a PreCompact hook refuses a compaction; after one that it allows, the session is told to start again", async () => {
  await using hooks = await withHooks({
    PreCompact: "test -e go || { echo 'not yet' >&2; exit 2; }",
    SessionStart: 'printf "%s\\n" "$(cat)" >> starts.jsonl; echo "the house rule"',
  });
  await using world = await providerWorld(() => ({ text: ["Done."] }), hooks);
  const { client, workspace } = world.server;
  const sessionId = await startSession(world.server);
  await runTurn(world.server, sessionId, "one");
  await runTurn(world.server, sessionId, "two");
  await expect(client.compactSession({ sessionId })).rejects.toThrow("A hook of the user refused the compaction");
  await writeFile(workspace.path("go"), "");
  await client.compactSession({ sessionId });
  await runTurn(world.server, sessionId, "three");
  const starts = (await readFile(workspace.path("starts.jsonl"), "utf8")).trim().split("\n");
  expect(starts.map((line) => (JSON.parse(line) as { source: string }).source)).toEqual(["startup", "compact"]);
  expect(messagesOf(world.provider.requests.at(-1)).at(-1)?.content).toContain("the house rule");
});

test("a question that waits is told, and does not wait for it", async () => {
  await using hooks = await withHooks({ Notification: 'printf "%s\\n" "$(cat)" > asked.json' });
  const steps = [
    scripted("Write", { file_path: ".github/workflows/a.yml", content: "on: push\n" }),
    { text: ["Over."] },
  ];
  await using server = await startTestServer({ ...hooks, steps });
  await using watcher = await Watcher.begin(server);
  await watcher.next("confirmationRequest");
  const asked = await vi.waitFor(async () => {
    const text = await readFile(server.workspace.path("asked.json"), "utf8");
    expect(text).toMatch(/\n$/);
    return text;
  });
  expect(JSON.parse(asked)).toMatchObject({ notification_type: "permission_prompt", message: expect.any(String) });
});
