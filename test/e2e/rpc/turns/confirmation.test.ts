import { existsSync } from "node:fs";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SettingsSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { RequestResolution } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationAnswer, ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { codeOf, endState, eventOf, eventsOf, runTurn, startSession, Watcher } from "../session-client.ts";
import { useServer } from "../use-server.ts";

/** A command that nobody can prove to read only. */
const touch = [{ steps: [call("Bash", { command: "touch made.txt", description: "harmless" }), { text: ["Done."] }] }];

function serverThatAsks(confirmation = { answerMs: 50_000, waitForClientMs: 50_000 }): Promise<TestServer> {
  return startTestServer({ script: touch, server: { confirmation } });
}

async function startTurn(server: TestServer, sessionId: string): Promise<string> {
  return (await server.client.startTurn({ sessionId, userInput: "touch it", clientTurnId: "turn" })).turnId;
}

describe("a question", () => {
  /** For those whose command does not run. */
  const unanswered = useServer(serverThatAsks);

  test("seed 003 §5 payload: shows the action, and a yes runs it once", async () => {
    await using server = await serverThatAsks();
    await using editor = await Watcher.begin(server);
    const question = await editor.next("confirmationRequest");
    expect(question).toMatchObject({ title: "Allow Bash?", modelClaim: "harmless" });
    expect(question.actionStatement).toContain("touch made.txt");
    expect(JSON.parse(question.actionJson)).toMatchObject({ tool: "Bash", arguments: { command: "touch made.txt" } });
    expect(question.deadline).toBeDefined();
    expect(question.offeredScopes).toContain(ConfirmationScope.ONCE);
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);

    await editor.answer(question, { scope: ConfirmationScope.ONCE });
    expect(await editor.end()).toBe("COMPLETED");
    expect(existsSync(server.workspace.path("made.txt"))).toBe(true);
    expect(await editor.next("clientRequestResolved")).toMatchObject({
      requestId: question.requestId,
      resolution: RequestResolution.ANSWERED,
      clientId: "editor-1",
      answer: ConfirmationAnswer.YES,
      scope: ConfirmationScope.ONCE,
    });
    expect((await editor.next("toolResult")).exitCode).toBe(0);
  });

  test.each([
    ["a no", { answer: ConfirmationAnswer.NO, reason: "Not now." }, "user_denied", "User denied execution: Not now."],
    ["no answer at all", { answer: ConfirmationAnswer.UNSPECIFIED }, "unclear_answer", "neither yes nor no"],
    ["an answer that has no meaning", { answer: 77 as ConfirmationAnswer }, "unclear_answer", "neither yes nor no"],
    ["a client that can ask nobody", { answer: ConfirmationAnswer.NOBODY }, "nobody_to_ask", "did not run"],
  ])("seed 003 §5 ambiguous: %s denies", async (_what, changes, code, message) => {
    const server = unanswered();
    await using editor = await Watcher.begin(server);
    await editor.answer(await editor.next("confirmationRequest"), changes);
    expect(await editor.end()).toBe("COMPLETED");
    const result = await editor.next("toolResult");
    expect(result.error).toContain(message);
    expect(JSON.parse(result.output)).toMatchObject({ error: { code } });
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  });

  test.each([
    ["another action", { actionSha256: "0".repeat(64) }],
    ["no action", { actionSha256: "" }],
  ])("seed 003 §5 ambiguous, seed 003 §5 token: a yes to %s is an error and runs nothing", async (_what, changes) => {
    await using server = await serverThatAsks({ answerMs: 2_000, waitForClientMs: 5_000 });
    await using editor = await Watcher.begin(server);
    const question = await editor.next("confirmationRequest");
    expect(await codeOf(editor.answer(question, changes))).toBe("invalid_argument");
    expect(await editor.end()).toBe("COMPLETED");
    expect(JSON.parse((await editor.next("toolResult")).output)).toMatchObject({
      error: { code: "confirmation_timeout" },
    });
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  });

  test("a scope that has no meaning is refused, and the question stays open", async () => {
    await using server = await serverThatAsks();
    await using editor = await Watcher.begin(server);
    const question = await editor.next("confirmationRequest");
    expect(await codeOf(editor.answer(question, { scope: 99 as ConfirmationScope }))).toBe("invalid_argument");
    await editor.answer(question);
    expect(await editor.end()).toBe("COMPLETED");
  });

  test("seed 003 §5 missing, seed 003 §5 token: unanswered in time is a denial, and not the user's", async () => {
    await using server = await serverThatAsks({ answerMs: 150, waitForClientMs: 5_000 });
    await using editor = await Watcher.begin(server);
    const question = await editor.next("confirmationRequest");
    expect(await editor.end()).toBe("COMPLETED");
    expect(await editor.next("clientRequestResolved")).toMatchObject({
      resolution: RequestResolution.TIMEOUT,
      clientId: "",
    });
    expect(JSON.parse((await editor.next("toolResult")).output)).toMatchObject({
      error: { code: "confirmation_timeout" },
    });
    expect(await codeOf(editor.answer(question))).toBe("failed_precondition");
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  });

  test("seed 003 §5 missing: in a session where nobody can be asked it is denied at once", async () => {
    const server = unanswered();
    const events = await runTurn(server, await startSession(server), "touch it");
    expect(JSON.parse(eventOf(events, "toolResult").output)).toMatchObject({ error: { code: "nobody_to_ask" } });
    expect(eventsOf(events, "confirmationRequest")).toEqual([]);
    expect(endState(events)).toBe("COMPLETED");
  });

  test("waits ten minutes where nothing else is set, as long as the session says, or until it is answered", async () => {
    await using server = await startTestServer({ script: touch });
    const secondsGiven = async (settings: MessageInitShape<typeof SettingsSchema>): Promise<number | undefined> => {
      const sessionId = await startSession(server, { interactive: true, settings });
      await using editor = await Watcher.attach(server, sessionId);
      await startTurn(server, sessionId);
      const question = await editor.next("confirmationRequest");
      await editor.answer(question, { answer: ConfirmationAnswer.NO });
      await editor.end();
      const { deadline } = question;
      return deadline === undefined ? undefined : Number(deadline.seconds) - Date.now() / 1000;
    };
    expect(await secondsGiven({})).toBeGreaterThan(500);
    const given = await secondsGiven({ questionSeconds: 90 });
    expect(given).toBeGreaterThan(30);
    expect(given).toBeLessThan(91);
    expect(await secondsGiven({ questionSeconds: 0 })).toBeUndefined();
  });

  test("is put to nobody in a session that a script started, until a person comes to it", async () => {
    await using server = await startTestServer({ script: [...touch, ...touch] });
    const sessionId = await startSession(server, { interactive: false });
    expect(eventsOf(await runTurn(server, sessionId, "touch it"), "confirmationRequest")).toEqual([]);
    await using page = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true, askUser: true } });
    await startTurn(server, sessionId);
    const question = await page.next("confirmationRequest");
    await page.answer(question);
    await page.next("clientRequestResolved");
    await page.until((events) => eventsOf(events, "toolResult").some(({ exitCode }) => exitCode === 0) || undefined);
    expect(existsSync(server.workspace.path("made.txt"))).toBe(true);
  });

  test("a client that vanishes cancels nothing, and may answer when it is back", async () => {
    await using server = await serverThatAsks();
    const sessionId = await startSession(server, { interactive: true });
    {
      await using editor = await Watcher.attach(server, sessionId);
      await startTurn(server, sessionId);
      await editor.next("confirmationRequest");
    }
    await using again = await Watcher.attach(server, sessionId);
    const question = await again.next("confirmationRequest");
    const replayed = again.events.find(({ event }) => event.case === "confirmationRequest");
    expect(replayed?.resolved).toBe(false);
    await again.answer(question);
    expect(await again.end()).toBe("COMPLETED");
    expect(existsSync(server.workspace.path("made.txt"))).toBe(true);
  });

  test("the first valid answer wins, also at once; every client hears of it", async () => {
    await using server = await serverThatAsks();
    const sessionId = await startSession(server, { interactive: true });
    await using one = await Watcher.attach(server, sessionId, { clientId: "one" });
    await using two = await Watcher.attach(server, sessionId, { clientId: "two" });
    await startTurn(server, sessionId);
    const [first, second] = await Promise.all([one.next("confirmationRequest"), two.next("confirmationRequest")]);
    expect(second.requestId).toBe(first.requestId);
    const codes = await Promise.all([
      codeOf(one.answer(first)),
      codeOf(two.answer(second, { answer: ConfirmationAnswer.NO })),
    ]);
    expect(codes.sort()).toEqual(["already_exists", "ok"]);
    const resolved = await Promise.all([one.next("clientRequestResolved"), two.next("clientRequestResolved")]);
    expect(resolved[0]).toEqual(resolved[1]);
    await one.end();
    expect(existsSync(server.workspace.path("made.txt"))).toBe(resolved[0].clientId === "one");
    expect(await codeOf(two.answer(second))).toBe("already_exists");

    await using late = await Watcher.attach(server, sessionId, { clientId: "late" });
    await late.end();
    const replayed = late.events.find(({ event }) => event.case === "confirmationRequest");
    expect(replayed?.resolved).toBe(true);
  });

  test("after a cancelled turn it is void", async () => {
    const server = unanswered();
    await using editor = await Watcher.begin(server);
    const { sessionId } = editor;
    const question = await editor.next("confirmationRequest");
    await server.client.cancelTurn({ sessionId, reason: "no" });
    expect(await editor.end()).toBe("CANCELLED");
    expect(await editor.next("clientRequestResolved")).toMatchObject({ resolution: RequestResolution.CANCELLED });
    expect(await codeOf(editor.answer(question))).toBe("failed_precondition");
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  });
});
