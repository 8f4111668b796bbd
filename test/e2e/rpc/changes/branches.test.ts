import { getWorkspaceState, prepareBranch } from "@gennai/client/session/workspace-state";
import { BranchChange, GitState } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { codeOf, refusalOf, startSession, Watcher } from "../session-client.ts";

const { signal } = new AbortController();

test("says where the workspace stands, and makes the branch for the agent", async () => {
  await using server = await startTestServer();
  const { client, workspace } = server;
  const sessionId = await startSession(server);
  await workspace.git("switch", "--quiet", "main");
  expect(await getWorkspaceState(client, { sessionId, signal })).toEqual({
    workingDir: workspace.root,
    git: "ready",
    branch: "main",
    hasCommit: true,
    changedFiles: 0,
    protectedBy: "main",
  });
  await workspace.write("README.md", "mine\n");
  await workspace.write("new.txt", "mine\n");
  expect(await client.getWorkspaceState({ sessionId })).toMatchObject({
    git: GitState.READY,
    dirty: true,
    changedFiles: 2,
    commit: await workspace.git("rev-parse", "HEAD"),
  });
  const task = "Replace colour with color in src/**/*.ts";
  expect(await prepareBranch(client, { sessionId, task, signal })).toEqual({
    branch: "ai-agent/replace-colour-with-color-in-src-ts",
    how: "created",
  });
  expect(await workspace.git("branch", "--show-current")).toBe("ai-agent/replace-colour-with-color-in-src-ts");
  expect(await workspace.read("README.md")).toBe("mine\n");
  expect(await prepareBranch(client, { sessionId, task: "another", signal })).toMatchObject({ how: "kept" });
  await workspace.git("stash", "--quiet");
  await workspace.git("switch", "--quiet", "main");
  expect(await client.prepareBranch({ sessionId, task })).toMatchObject({ change: BranchChange.SWITCHED });
});

test("takes no branch by a protected name, by what is no name, an option, or nothing", async () => {
  await using server = await startTestServer();
  const sessionId = await startSession(server);
  for (const [request, info] of [
    [{ branch: "main" }, "protected_branch"],
    [{ branch: "a..b" }, "bad_branch_name"],
    [{ branch: "--orphan" }, "bad_branch_name"],
    [{}, "invalid_argument"],
  ] as const) {
    const refused = await refusalOf(server.client.prepareBranch({ sessionId, ...request }));
    expect(refused).toMatchObject({ code: "invalid_argument", info });
  }
});

test("where there is no repository, says so and what to do", async () => {
  await using plain = await temporaryDirectory({ "a.txt": "a\n" });
  await using server = await startTestServer();
  const { client } = server;
  const sessionId = await startSession(server, { settings: { workingDir: plain.root } });
  expect(await client.getWorkspaceState({ sessionId })).toMatchObject({ git: GitState.NO_REPOSITORY, branch: "" });
  expect(await refusalOf(client.prepareBranch({ sessionId, task: "x" }))).toMatchObject({
    info: "no_repository",
    hint: expect.stringContaining("git init"),
  });
});

test("stays where it is in read-only mode, and while a turn runs", async () => {
  await using server = await startTestServer({
    steps: [call("Read", { file_path: "README.md" }), { text: ["Read."] }],
  });
  const { client, workspace } = server;
  const sessionId = await startSession(server, { interactive: true });
  await workspace.git("switch", "--quiet", "main");
  const { governance } = server;
  const control = EmergencyControl.READ_ONLY;
  await governance.setEmergencyControl({ control, enabled: true, by: "me", reason: "a look" });
  expect(await refusalOf(client.prepareBranch({ sessionId, task: "x" }))).toMatchObject({ info: "read_only_mode" });
  await governance.setEmergencyControl({ control, enabled: false, by: "me", reason: "looked" });
  await using editor = await Watcher.attach(server, sessionId, { capabilities: { fileRead: true } });
  const { turnId } = await client.startTurn({ sessionId, userInput: "go", clientTurnId: "one" });
  const { requestId, path } = await editor.next("requestFileRead");
  expect(await codeOf(client.prepareBranch({ sessionId, task: "x" }))).toBe("failed_precondition");
  await editor.submit({ case: "fileReadResponse", value: { requestId, path, content: "x" } });
  await editor.end(turnId);
  expect(await workspace.git("branch", "--show-current")).toBe("main");
  expect(await client.prepareBranch({ sessionId, task: "x" })).toMatchObject({ branch: "ai-agent/x" });
});
