import { TodoPriority, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  allEvents,
  codeOf,
  eventOf,
  eventsOf,
  lastOfGapless,
  refusalOf,
  runTurn,
  startSession,
} from "../session-client.ts";

const hello = { steps: [{ text: ["Hello."] }] };

describe("todos", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ script: [hello] });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test("are replaced as a whole, told to everybody, and kept", async () => {
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
    await using server = await startTestServer({ steps: [{ delay_ms: 2_000 }] });
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
    expect(sessions.find(({ sessionId }) => sessionId === fork)?.title).toBe("Fork of first");
  });

  test("of a session that is deleted meanwhile is none", async () => {
    await using server = await startTestServer({ script: [hello] });
    const source = await startSession(server);
    await runTurn(server, source, "first");
    const { log } = server.running.manager.services;
    const read = log.read.bind(log);
    // Deleted between the look at its files and the copy of its events.
    let reads = 0;
    vi.spyOn(log, "read").mockImplementation(async (id, after, limit) => {
      if (id === source && ++reads === 2) await log.forget(source, "Ann");
      return read(id, after, limit);
    });
    expect(await codeOf(server.client.forkSession({ sessionId: source }))).toBe("not_found");
    vi.restoreAllMocks();
    expect(reads).toBe(2);
    expect((await server.client.listSessions({})).sessions).toEqual([]);
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
  await using server = await startTestServer({ steps: [{ delay_ms: 1_000 }, { text: ["Hello."] }] });
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
