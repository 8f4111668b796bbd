import { readFile } from "node:fs/promises";
import { type InvokeEvent, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { userMessage } from "../../../../packages/agent/test/user-message.ts";
import {
  allEvents,
  endState,
  eventOf,
  eventsOf,
  refusalOf,
  runTurn,
  startSession,
  Watcher,
} from "../session-client.ts";

const script = [
  {
    match: "^touch",
    steps: [
      { tool: { name: "Bash", args: { command: "echo ran >> made.txt", description: "leaves a line" } } },
      { text: ["Done."] },
    ],
  },
  { steps: [{ text: ["Hello."] }] },
];

/** A fork of a turn's beginning says so, and nobody goes on with that turn: not now, not after a restart. */
async function expectNoWayOn(server: TestServer, fork: string, code: string): Promise<void> {
  for (const restarts of [0, 1]) {
    if (restarts > 0) await server.restart();
    const events = await allEvents(server, fork);
    expect(endState(events)).toBe("INTERRUPTED");
    const told = events.filter(({ event }) => event.case === "error").at(-1);
    expect(told?.errorInfo).toMatchObject({ code, canContinue: false, hint: expect.stringContaining("ask again") });
    expect((await server.client.resumeSession({ sessionId: fork })).cutOffTurn).toBeUndefined();
    const continueTurnId = told?.turnId ?? "";
    const refused = await refusalOf(server.client.startTurn({ sessionId: fork, continueTurnId, clientTurnId: "on" }));
    expect(refused).toMatchObject({ code: "failed_precondition", hint: expect.stringContaining("new prompt") });
  }
  expect(endState(await runTurn(server, fork, "second"))).toBe("COMPLETED");
}

function seqBeforeTool(events: readonly InvokeEvent[]): bigint {
  const found = events.find(({ event }) => event.case === "status" && event.value.state === InvokeState.RUN_TOOL);
  if (found === undefined) throw new Error("No tool ran.");
  return found.firstSeq - 1n;
}

test("a fork taken while a question waits, or right before a call ran, is not gone on with: the call runs once", async () => {
  await using server = await startTestServer({ script });
  const source = await startSession(server, { interactive: true });
  let question: string;
  {
    await using editor = await Watcher.attach(server, source);
    await server.client.startTurn({ sessionId: source, userInput: "touch", clientTurnId: "turn" });
    const asked = await editor.next("confirmationRequest");
    question = (await server.client.forkSession({ sessionId: source })).sessionId;
    await editor.answer(asked);
    expect(await editor.end()).toBe("COMPLETED");
  }
  const throughSeq = seqBeforeTool(await allEvents(server, source));
  const { sessionId: call } = await server.client.forkSession({ sessionId: source, throughSeq });
  for (const fork of [question, call]) {
    const events = await allEvents(server, fork);
    expect(eventsOf(events, "toolCall")).toHaveLength(1);
    expect(eventsOf(events, "toolResult")).toEqual([]);
    // Nor can a fork of the fork.
    const { sessionId: second } = await server.client.forkSession({ sessionId: fork });
    await expectNoWayOn(server, fork, "forked_in_turn");
    await expectNoWayOn(server, second, "forked_in_turn");
  }
  expect(await readFile(server.workspace.path("made.txt"), "utf8")).toBe("ran\n");
});

test("what a session can go on with, its fork cannot", async () => {
  await using server = await startTestServer({ script });
  const source = await startSession(server);
  const { writer } = await server.running.manager.get(source);
  // As a server leaves it that found the turn of one which went away.
  await writer.commit(
    [
      { type: "status", state: "started", iteration: 0 },
      userMessage("touch", { clientTurnId: "c" }),
      { type: "error", code: "interrupted_waiting", message: "It waited.", retryable: true, canContinue: true },
      { type: "status", state: "interrupted", iteration: 0 },
    ],
    { turnId: "cut-off", durable: true },
  );
  expect((await server.client.resumeSession({ sessionId: source })).cutOffTurn).toMatchObject({ turnId: "cut-off" });
  const { sessionId: fork } = await server.client.forkSession({ sessionId: source });
  await expectNoWayOn(server, fork, "interrupted_waiting");
  expect((await server.client.resumeSession({ sessionId: source })).cutOffTurn).toMatchObject({ turnId: "cut-off" });
});

test("a fork whose server went away while it copied a turn is not gone on with either", async () => {
  await using server = await startTestServer({ script });
  const fork = await startSession(server);
  const { writer } = await server.running.manager.get(fork);
  await writer.commit(
    [
      { type: "status", state: "started", iteration: 0, copied: true },
      userMessage("touch", { clientTurnId: "c" }),
      { type: "tool-call", id: "1", name: "Bash", argumentsJson: "{}" },
    ],
    { turnId: "copied", durable: true },
  );
  await server.restart();
  await expectNoWayOn(server, fork, "forked_in_turn");
  expect(eventOf(await allEvents(server, fork), "toolCall").name).toBe("Bash");
});
