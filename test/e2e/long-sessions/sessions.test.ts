import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, codeOf, eventOf, runTurn, startSession } from "../rpc/session-client.ts";

test("a session is renamed, keeps its name, and gives it to its forks", async () => {
  await using server = await startTestServer();
  const sessionId = await startSession(server);
  expect(await server.client.renameSession({ sessionId, title: "  The roof  " })).toMatchObject({ title: "The roof" });
  await runTurn(server, sessionId, "hello there");
  await server.restart();
  const titles = async () => (await server.client.listSessions({})).sessions.map(({ title }) => title);
  expect(await titles()).toEqual(["The roof"]);
  expect(eventOf(await allEvents(server, sessionId), "sessionRenamed").title).toBe("The roof");
  await server.client.forkSession({ sessionId });
  expect(await titles()).toEqual(["Fork of The roof", "The roof"]);
  for (const title of ["", " ", "a\nb", "x".repeat(201)]) {
    expect(await codeOf(server.client.renameSession({ sessionId, title }))).toBe("invalid_argument");
  }
  expect(await codeOf(server.client.renameSession({ sessionId: "none", title: "x" }))).toBe("not_found");
});

test("a deleted session is gone from lists, from memory and from the log, and who follows it is told why", async () => {
  await using server = await startTestServer();
  const sessionId = await startSession(server);
  const kept = await startSession(server);
  await runTurn(server, sessionId, "remember PLANTED-WORD");
  const follow = async () => {
    for await (const _event of server.client.subscribe({ sessionId })) continue;
  };
  const end = follow().catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 200));
  const gone = await server.client.deleteSession({ sessionId });
  expect(gone.events).toBeGreaterThan(2);
  expect(await end).toMatchObject({ code: Code.NotFound, message: expect.stringContaining("was deleted") });
  const ids = async () => (await server.client.listSessions({})).sessions.map((each) => each.sessionId);
  expect(await ids()).toEqual([kept]);
  for (const call of [
    () => server.client.resumeSession({ sessionId }),
    () => server.client.startTurn({ sessionId, userInput: "hello", clientTurnId: "t1" }),
    () => server.client.renameSession({ sessionId, title: "x" }),
    () => server.client.deleteSession({ sessionId }),
  ]) {
    expect(await codeOf(call())).toBe("not_found");
  }
  await server.restart();
  expect(await ids()).toEqual([kept]);
  await runTurn(server, kept, "hello");
});

test("a session is not deleted while its turn runs", async () => {
  await using server = await startTestServer();
  const sessionId = await startSession(server);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "run sleep 20", clientTurnId: "t1" });
  const refused = server.client.deleteSession({ sessionId });
  await expect(refused).rejects.toMatchObject({ code: Code.FailedPrecondition });
  expect(ConnectError.from(await refused.catch((error: unknown) => error)).findDetails(ErrorInfoSchema)).toMatchObject([
    { code: "turn_running", hint: "Wait for its end, or stop it." },
  ]);
  await server.client.cancelTurn({ sessionId, turnId });
  await server.client.deleteSession({ sessionId });
  expect((await server.client.listSessions({})).sessions).toEqual([]);
});
