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
