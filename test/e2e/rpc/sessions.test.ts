import { symlink } from "node:fs/promises";
import { homedir } from "node:os";
import type { AgentClient } from "@gennai/client/connection/connection";
import { Backend, EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { TodoPriority, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import {
  allEvents,
  codeOf,
  endState,
  eventOf,
  eventsOf,
  lastOfGapless,
  lastSeqOf,
  refusalOf,
  runTurn,
  startSession,
  Watcher,
} from "./session-client.ts";

const hello = { steps: [{ text: ["Hello."] }] };
const nobody = "00000000-0000-4000-8000-000000000000";

describe("starting a session", () => {
  test("tells what it runs with", async () => {
    await using server = await startTestServer({ script: [hello] });
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
    await using server = await startTestServer({ script: [hello] });
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
    ["an address that is none", { baseUrl: "not a url" }, "invalid_argument"],
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
    await using server = await startTestServer({ script: [hello] });
    expect(await refusalOf(server.client.startSession({ settings }))).toMatchObject({ code });
    expect((await server.client.listSessions({})).sessions).toEqual([]);
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
    await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 1500 }, { text: ["a"] }] }] });
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
    await using server = await startTestServer();
    for (const sessionId of [nobody, "", "'; DROP TABLE sessions; --", "../x", "a".repeat(10_000)]) {
      const refused = await refusalOf(call(server.client, sessionId));
      expect(refused).toMatchObject({ code: "not_found", info: "not_found" });
      expect(refused.hint).not.toBe("");
    }
  },
);

describe("todos", () => {
  test("are replaced as a whole, told to everybody, and kept", async () => {
    await using server = await startTestServer({ script: [hello] });
    const sessionId = await startSession(server);
    const first = await server.client.writeTodos({
      sessionId,
      items: [
        { content: "One" },
        { id: "two", content: "Two", status: TodoStatus.IN_PROGRESS, priority: TodoPriority.HIGH },
      ],
    });
    expect(first.items).toMatchObject([
      { content: "One", status: TodoStatus.PENDING, priority: TodoPriority.MEDIUM },
      { id: "two", status: TodoStatus.IN_PROGRESS, priority: TodoPriority.HIGH },
    ]);
    expect(first.items[0]?.id).not.toBe("");
    expect(new Date(first.items[0]?.created ?? "").toISOString()).toBe(first.items[0]?.created);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const done = await server.client.writeTodos({
      sessionId,
      items: [{ id: "two", content: "Two", status: TodoStatus.COMPLETED }],
    });
    expect(done.items).toHaveLength(1);
    expect(done.items[0]?.created).toBe(first.items[1]?.created);
    expect(done.items[0]?.updated).not.toBe(first.items[1]?.updated);
    await server.restart();
    expect((await server.client.getTodos({ sessionId })).items).toEqual(done.items);
    expect(eventsOf(await allEvents(server, sessionId), "todosChanged")).toHaveLength(2);
    await server.client.clearSession({ sessionId });
    expect((await server.client.getTodos({ sessionId })).items).toEqual([]);
  });

  test.each([
    ["without content", [{ content: " " }]],
    ["with endless content", [{ content: "a".repeat(10_001) }]],
    [
      "with one id twice",
      [
        { id: "a", content: "x" },
        { id: "a", content: "y" },
      ],
    ],
    ["with an endless id", [{ id: "a".repeat(129), content: "x" }]],
    ["with a status that means nothing", [{ content: "x", status: 99 as TodoStatus }]],
    ["with a priority that means nothing", [{ content: "x", priority: -1 as TodoPriority }]],
    ["501 of them", Array.from({ length: 501 }, () => ({ content: "x" }))],
  ])("a list %s is refused, and the old one stays", async (_what, items) => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    await server.client.writeTodos({ sessionId, items: [{ content: "old" }] });
    expect(await codeOf(server.client.writeTodos({ sessionId, items }))).toBe("invalid_argument");
    expect((await server.client.getTodos({ sessionId })).items).toMatchObject([{ content: "old" }]);
  });
});

test("a preview shows the last messages, and nothing after the session was cleared", async () => {
  await using server = await startTestServer({ script: [hello, hello, hello] });
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, `first ${"long ".repeat(200)}`);
  await runTurn(server, sessionId, "second");
  const preview = async (maxMessages: number) =>
    (await server.client.getConversationPreview({ sessionId, maxMessages })).preview;
  expect(await preview(0)).toMatch(
    /^User: first long .* …\n\nAssistant: Hello\.\n\nUser: second\n\nAssistant: Hello\.$/,
  );
  expect(await preview(1)).toBe("Assistant: Hello.");
  expect(await codeOf(preview(-1))).toBe("invalid_argument");
  await server.client.clearSession({ sessionId });
  expect(await preview(0)).toBe("");
  // The log stays.
  expect(eventsOf(await allEvents(server, sessionId), "final")).toHaveLength(2);
});

describe("the list of sessions", () => {
  test("newest first, titled by what was asked, of one workspace or of all, after a restart too", async () => {
    await using server = await startTestServer({ script: [hello] });
    await using other = await temporaryDirectory();
    const titled = await startSession(server);
    await runTurn(server, titled, "Mend the\n  roof, please");
    await new Promise((resolve) => setTimeout(resolve, 5));
    const elsewhere = await startSession(server, { settings: { workingDir: other.root } });
    await server.restart();
    const { sessions } = await server.client.listSessions({});
    expect(sessions).toMatchObject([
      { sessionId: elsewhere, title: "", workingDir: other.root },
      { sessionId: titled, title: "Mend the roof, please", runningTurnId: "" },
    ]);
    const here = await server.client.listSessions({ workingDir: server.workspace.root });
    expect(here.sessions.map(({ sessionId }) => sessionId)).toEqual([titled]);
    expect((await server.client.listSessions({ limit: 1 })).sessions).toHaveLength(1);
    expect(await codeOf(server.client.listSessions({ limit: -1 }))).toBe("invalid_argument");
  });

  test("names the turn that runs", async () => {
    await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 2_000 }] }] });
    const sessionId = await startSession(server);
    const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
    expect((await server.client.listSessions({})).sessions[0]?.runningTurnId).toBe(turnId);
    expect((await server.client.resumeSession({ sessionId })).session?.runningTurnId).toBe(turnId);
  });
});

describe("a fork", () => {
  test("begins with the history, and then goes its own way", async () => {
    await using server = await startTestServer({ script: [hello, hello, hello] });
    const source = await startSession(server);
    await runTurn(server, source, "first");
    const { sessionId: fork } = await server.client.forkSession({ sessionId: source });
    await runTurn(server, fork, "second");
    const events = await allEvents(server, fork);
    lastOfGapless(events, 0n);
    expect(eventOf(events.slice(0, 1), "sessionStarted").forkedFrom).toBe(source);
    expect(eventsOf(events, "userMessage").map(({ text }) => text)).toEqual(["first", "second"]);
    expect(eventsOf(await allEvents(server, source), "userMessage")).toHaveLength(1);
    const { sessions } = await server.client.listSessions({});
    expect(sessions.find(({ sessionId }) => sessionId === fork)?.title).toBe("first");
  });

  test("taken in the middle of a turn has its beginning, and says that it was broken off", async () => {
    await using server = await startTestServer({
      script: [{ steps: [{ text: ["a"] }, { delay_ms: 1_000 }, { text: ["b"] }] }, hello],
    });
    const source = await startSession(server);
    const running = runTurn(server, source, "first");
    await using watcher = await Watcher.attach(server, source);
    await watcher.next("userMessage");
    const { sessionId: fork } = await server.client.forkSession({ sessionId: source });
    expect(endState(await allEvents(server, fork))).toBe("INTERRUPTED");
    expect(endState(await runTurn(server, fork, "second"))).toBe("COMPLETED");
    expect(endState(await running)).toBe("COMPLETED");
  });

  test("up to a place, and not beyond the end", async () => {
    await using server = await startTestServer({ script: [hello, hello] });
    const source = await startSession(server);
    await runTurn(server, source, "first");
    const { session } = await server.client.resumeSession({ sessionId: source });
    await runTurn(server, source, "second");
    const { sessionId: fork } = await server.client.forkSession({
      sessionId: source,
      throughSeq: session?.lastSeq ?? 0n,
    });
    expect(eventsOf(await allEvents(server, fork), "userMessage").map(({ text }) => text)).toEqual(["first"]);
    expect(await codeOf(server.client.forkSession({ sessionId: source, throughSeq: 10_000n }))).toBe(
      "invalid_argument",
    );
  });
});

test("scenarios: the built-in ones, and those of the workspace", async () => {
  await using server = await startTestServer();
  const { scenarios } = await server.client.listScenarios({});
  expect(scenarios.map(({ name }) => name)).toEqual(expect.arrayContaining(["CODE", "EDITOR_CODE", "RESPOND"]));
  for (const { description, tools } of scenarios) expect([description, tools]).not.toContain("");
});

test("the server introduces itself", async () => {
  await using server = await startTestServer();
  const info = await server.client.getServerInfo({});
  expect(info).toMatchObject({ version: "0.0.0-test", protocolVersion: 1, defaultWorkingDir: server.workspace.root });
  expect(["sandboxed", "unsandboxed"]).toContain(info.isolation);
  expect(info.features).toEqual(expect.arrayContaining(["resume", "blobs", "undo", "fork"]));
});

test("a session whose workspace is gone can be listed, not continued", async () => {
  await using server = await startTestServer({ script: [hello] });
  const other = await temporaryDirectory();
  const sessionId = await startSession(server, { settings: { workingDir: other.root } });
  await other[Symbol.asyncDispose]();
  await server.restart();
  expect((await server.client.listSessions({})).sessions).toHaveLength(1);
  const refused = await refusalOf(server.client.resumeSession({ sessionId }));
  expect(refused).toMatchObject({ code: "failed_precondition" });
});

test("many who ask for a session of the log at once get one session", async () => {
  await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 1_000 }, { text: ["Hello."] }] }] });
  const sessionId = await startSession(server);
  await server.restart();
  const starts = Array.from({ length: 8 }, (_, index) =>
    refusalOf(server.client.startTurn({ sessionId, userInput: `turn ${index}`, clientTurnId: `${index}` })),
  );
  const codes = (await Promise.all(starts)).map(({ code }) => code).sort();
  expect(codes.filter((code) => code === "ok")).toHaveLength(1);
  expect(codes.filter((code) => code === "failed_precondition")).toHaveLength(7);
  lastOfGapless(await allEvents(server, sessionId), 0n);
});
