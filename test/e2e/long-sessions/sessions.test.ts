import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test, vi } from "vitest";
import { allEvents, codeOf, eventOf, refusalOf, runTurn, startSession } from "../rpc/session-client.ts";

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
  const following = Promise.withResolvers<void>();
  const follow = async () => {
    for await (const _event of server.client.subscribe({ sessionId })) following.resolve();
  };
  const end = follow().catch((error: unknown) => error);
  await following.promise;
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

test("no session is deleted under an emergency control", async () => {
  await using server = await startTestServer();
  const sessionId = await startSession(server);
  const { governance } = server;
  const set = (control: EmergencyControl, enabled: boolean, tool: string) =>
    governance.setEmergencyControl({ control, enabled, tool, by: "ann", reason: "a test" });
  const controls: readonly (readonly [EmergencyControl, string, string])[] = [
    [EmergencyControl.STOP_ALL, "", "stopped"],
    [EmergencyControl.READ_ONLY, "", "read_only_mode"],
    [EmergencyControl.DISABLE_HIGH_IMPACT, "", "high_impact_disabled"],
    [EmergencyControl.BLOCK_TOOL, "DeleteSession", "tool_blocked"],
  ];
  for (const [control, tool, info] of controls) {
    await set(control, true, tool);
    const refused = await refusalOf(server.client.deleteSession({ sessionId }));
    expect(refused).toMatchObject({ code: "permission_denied", info });
    await set(control, false, tool);
  }
  expect((await server.client.listSessions({})).sessions).toHaveLength(1);
  await server.client.deleteSession({ sessionId });
});

test("a session is not deleted while an undo of it is under way, and is not changed while it is deleted", async () => {
  const edit = { tool: { name: "Write", args: { file_path: "made.txt", content: "made\n" } } };
  await using server = await startTestServer({ steps: [edit, { text: ["Done."] }] });
  const sessionId = await startSession(server);
  await runTurn(server, sessionId, "write");
  const session = await server.running.manager.get(sessionId);
  const { log } = session.services;

  const [began, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { decided } = session;
  vi.spyOn(session, "decided").mockImplementationOnce(async (...rest) => {
    began.resolve();
    await goOn.promise;
    return decided.apply(session, rest);
  });
  const undo = server.client.undoChangeSet({ sessionId });
  await began.promise;
  expect(await refusalOf(server.client.deleteSession({ sessionId }))).toMatchObject({
    code: "failed_precondition",
    info: "act_under_way",
    message: expect.stringContaining("an undo"),
    hint: expect.stringContaining("Wait for its end"),
  });
  goOn.resolve();
  expect((await undo).files).toHaveLength(1);

  const [leaves, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const forget = log.forget.bind(log);
  vi.spyOn(log, "forget").mockImplementationOnce(async (...rest) => {
    leaves.resolve();
    await go.promise;
    return forget(...rest);
  });
  const deletion = server.client.deleteSession({ sessionId });
  await leaves.promise;
  expect(await refusalOf(server.client.undoChangeSet({ sessionId }))).toMatchObject({ info: "session_leaves" });
  go.resolve();
  expect((await deletion).events).toBeGreaterThan(1);
  vi.restoreAllMocks();
  expect(await codeOf(server.client.undoChangeSet({ sessionId }))).toBe("not_found");
});
