import { symlink } from "node:fs/promises";
import { homedir } from "node:os";
import type { AgentClient } from "@gennai/client/connection/connection";
import { Backend, EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeOf, lastSeqOf, refusalOf, startSession } from "../session-client.ts";

const hello = { steps: [{ text: ["Hello."] }] };
const nobody = "00000000-0000-4000-8000-000000000000";

describe("starting a session", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ script: [hello] });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("tells what it runs with", async () => {
    const response = await server.client.startSession({ settings: { maxIterations: 7 } });
    expect(response.sessionId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(response.workingDir).toBe(server.workspace.root);
    expect(response.capabilities).toMatchObject({ toolCalling: true });
    expect(response.settings).toMatchObject({
      maxIterations: 7,
      backend: Backend.SCRIPTED,
      editingMode: EditingMode.BRANCH,
    });
  });

  test("a workspace that is a link is the directory behind it", async () => {
    await using elsewhere = await temporaryDirectory();
    await symlink(server.workspace.root, elsewhere.path("link"));
    const response = await server.client.startSession({ settings: { workingDir: elsewhere.path("link") } });
    expect(response.workingDir).toBe(server.workspace.root);
  });

  test.each([
    ["a backend without a meaning", { backend: 99 as Backend }, "invalid_argument"],
    ["a mode without a meaning", { editingMode: 99 as EditingMode }, "invalid_argument"],
    ["negative tokens", { maxTokens: -1 }, "invalid_argument"],
    ["negative iterations", { maxIterations: -1 }, "invalid_argument"],
    ["iterations without end", { maxIterations: 2 ** 31 - 1 }, "invalid_argument"],
    ["an invalid address", { baseUrl: "not a url" }, "invalid_argument"],
    ["an address of another kind", { baseUrl: "file:///etc/passwd" }, "invalid_argument"],
    ["an address with a password", { baseUrl: "http://a:b@localhost" }, "invalid_argument"],
    ["the whole disk", { workingDir: "/" }, "invalid_argument"],
    ["everything the user has", { workingDir: homedir() }, "invalid_argument"],
    ["a relative workspace", { workingDir: "src" }, "invalid_argument"],
    ["a workspace that is not there", { workingDir: "/no/such/directory" }, "invalid_argument"],
    ["a workspace that is a file", { workingDir: "/etc/hostname" }, "invalid_argument"],
    ["a model that cannot be had", { backend: Backend.GEMINI }, "failed_precondition"],
    ["a script that is not there", { model: "/no/such/script.yaml" }, "failed_precondition"],
  ])("%s is refused", async (_what, settings, code) => {
    const { sessions } = await server.client.listSessions({});
    expect(await refusalOf(server.client.startSession({ settings }))).toMatchObject({ code });
    expect((await server.client.listSessions({})).sessions).toEqual(sessions);
    const sessionId = await startSession(server);
    const before = await lastSeqOf(server, sessionId);
    expect(await refusalOf(server.client.setSettings({ sessionId, settings }))).toMatchObject({ code });
    const { session } = await server.client.resumeSession({ sessionId });
    expect(session?.lastSeq).toBe(before);
  });
});

describe("settings", () => {
  test("unset fields keep their value; another backend inherits no model", async () => {
    await using server = await startTestServer({ script: [hello] });
    const sessionId = await startSession(server, { settings: { maxIterations: 7, maxTokens: 100 } });
    const first = await server.client.setSettings({ sessionId, settings: { maxTokens: 50 } });
    expect(first.settings).toMatchObject({ maxIterations: 7, maxTokens: 50, backend: Backend.SCRIPTED });
    const second = await server.client.setSettings({ sessionId, settings: { backend: Backend.OFFLINE } });
    expect(second.settings).toMatchObject({ backend: Backend.OFFLINE, model: "", maxTokens: 50 });
    await server.restart();
    const resumed = await server.client.resumeSession({ sessionId });
    expect(resumed.settings).toMatchObject({ backend: Backend.OFFLINE, maxTokens: 50, maxIterations: 7 });
  });

  test("the workspace is fixed, the mode of a running turn too", async () => {
    await using server = await startTestServer({ steps: [{ delay_ms: 1500 }, { text: ["a"] }] });
    const sessionId = await startSession(server);
    await using other = await temporaryDirectory();
    const refused = server.client.setSettings({ sessionId, settings: { workingDir: other.root } });
    expect(await codeOf(refused)).toBe("invalid_argument");
    expect(
      await codeOf(server.client.setSettings({ sessionId, settings: { workingDir: server.workspace.root } })),
    ).toBe("ok");
    const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
    const proposal = { sessionId, settings: { editingMode: EditingMode.PROPOSAL } };
    expect(await codeOf(server.client.setSettings(proposal))).toBe("failed_precondition");
    expect(await codeOf(server.client.clearSession({ sessionId }))).toBe("failed_precondition");
    expect(await codeOf(server.client.undoChangeSet({ sessionId }))).toBe("failed_precondition");
    await Array.fromAsync(server.client.subscribe({ sessionId, untilTurnId: turnId }));
    expect(await codeOf(server.client.setSettings(proposal))).toBe("ok");
  });
});

describe("a server with no session", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each([
    ["clearSession", (client, sessionId) => client.clearSession({ sessionId })],
    [
      "listScenarios",
      (client, sessionId) =>
        sessionId === "" ? client.clearSession({ sessionId }) : client.listScenarios({ sessionId }),
    ],
    [
      "submitClientEvent",
      (client, sessionId) =>
        client.submitClientEvent({ sessionId, event: { case: "commandOutput", value: { requestId: nobody } } }),
    ],
    ["getTodos", (client, sessionId) => client.getTodos({ sessionId })],
    ["writeTodos", (client, sessionId) => client.writeTodos({ sessionId })],
    ["getConversationPreview", (client, sessionId) => client.getConversationPreview({ sessionId })],
    ["setSettings", (client, sessionId) => client.setSettings({ sessionId })],
    ["cancelTurn", (client, sessionId) => client.cancelTurn({ sessionId })],
    ["stop", (client, sessionId) => client.stop({ sessionId, scope: 1 })],
    ["resumeSession", (client, sessionId) => client.resumeSession({ sessionId })],
    ["forkSession", (client, sessionId) => client.forkSession({ sessionId })],
    ["getBlob", (client, sessionId) => client.getBlob({ sessionId, sha256: "0".repeat(64) })],
    ["undoChangeSet", (client, sessionId) => client.undoChangeSet({ sessionId })],
  ] satisfies [string, (client: AgentClient, sessionId: string) => Promise<unknown>][])(
    "%s: an unknown session is not_found",
    async (_name, call) => {
      for (const sessionId of [nobody, "", "'; DROP TABLE sessions; --", "../x", "a".repeat(10_000)]) {
        const refused = await refusalOf(call(server.client, sessionId));
        expect(refused).toMatchObject({ code: "not_found", info: "not_found" });
        expect(refused.hint).not.toBe("");
      }
    },
  );

  test("scenarios: the built-in ones, and those of the workspace", async () => {
    const { scenarios } = await server.client.listScenarios({});
    expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining(["CODE", "EDITOR_CODE", "RESPOND"]));
    for (const { description, tools } of scenarios) expect([description, tools]).not.toContain("");
  });

  test("the server introduces itself", async () => {
    const info = await server.client.getServerInfo({});
    expect(info).toMatchObject({ version: "0.0.0-test", protocolVersion: 1, defaultWorkingDir: server.workspace.root });
    expect(["sandboxed", "unsandboxed"]).toContain(info.isolation);
    expect(info.features).toEqual(expect.arrayContaining(["resume", "blobs", "undo", "fork"]));
  });
});
