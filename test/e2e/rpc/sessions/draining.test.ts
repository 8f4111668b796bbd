import { setTimeout as delay } from "node:timers/promises";
import { subscribe } from "@gennai/client/session/subscription";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, endState, refusalOf, startSession } from "../session-client.ts";

const script = [
  { match: "^short", steps: [{ text: ["On it."] }, { delay_ms: 1_500 }, { text: ["Done."] }] },
  { match: "^long", steps: [{ text: ["On it."] }, { delay_ms: 60_000 }, { text: ["Done."] }] },
];

async function ready(server: TestServer): Promise<readonly [number, unknown, string | null]> {
  const response = await fetch(new URL("/readyz", server.url));
  return [response.status, await response.json(), response.headers.get("connection")];
}

test("a server that leaves starts no turn, lets the running one end, and says good-bye so that clients come again", async () => {
  await using server = await startTestServer({ script });
  expect(await ready(server)).toEqual([200, { status: "ok" }, "keep-alive"]);
  const [working, idle] = [await startSession(server), await startSession(server)];
  const { turnId } = await server.client.startTurn({ sessionId: working, userInput: "short", clientTurnId: "t" });
  const farewell = refusalOf(Array.fromAsync(server.client.subscribe({ sessionId: idle })));

  const drained = server.running.drain(20_000);
  expect(await ready(server)).toEqual([503, { status: "draining" }, "close"]);
  expect((await fetch(new URL("/livez", server.url))).status).toBe(200);
  const refused = await refusalOf(server.client.startTurn({ sessionId: idle, userInput: "short", clientTurnId: "u" }));
  expect(refused).toMatchObject({ code: "unavailable", info: "server_draining" });
  await drained;
  const events = await allEvents(server, working);
  expect(endState(events.filter((event) => event.turnId === turnId))).toBe("COMPLETED");

  await server.running[Symbol.asyncDispose]();
  expect(await farewell).toMatchObject({ code: "unavailable", info: "server_draining" });
});

test("a turn that is about to begin is waited for", async () => {
  await using server = await startTestServer({ script });
  const sessionId = await startSession(server);
  const session = await server.running.manager.get(sessionId);
  const [asked, begin] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  session.workspace.syncControl = () => {
    asked.resolve();
    return begin.promise;
  };
  const started = server.client.startTurn({ sessionId, userInput: "short", clientTurnId: "t" });
  await asked.promise;
  const drained = server.running.drain(20_000);
  begin.resolve();
  const { turnId } = await started;
  await drained;
  expect(session.runningTurnId).toBe(undefined);
  expect(endState((await allEvents(server, sessionId)).filter((event) => event.turnId === turnId))).toBe("COMPLETED");
});

test("it waits no longer than it was told, and what still runs is stopped", async () => {
  await using server = await startTestServer({ script });
  const sessionId = await startSession(server);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "long", clientTurnId: "t" });
  const began = performance.now();
  await server.running.drain(400);
  expect(performance.now() - began).toBeLessThan(3_000);
  await server.restart();
  // Nobody stopped it, so that a person can go on with it, as after a kill.
  const events = await allEvents(server, sessionId);
  expect([endState(events), events.at(-2)?.errorInfo]).toMatchObject([
    "INTERRUPTED",
    { code: "interrupted", canContinue: true },
  ]);
  expect((await server.client.resumeSession({ sessionId })).cutOffTurn).toMatchObject({ turnId, waited: false });
  const on = { sessionId, continueTurnId: turnId, clientTurnId: "u" };
  const goesOn = await server.client.startTurn(on);
  await server.client.cancelTurn({ sessionId, turnId: goesOn.turnId });
  expect(endState(await allEvents(server, sessionId))).toBe("CANCELLED");
});

test("a client that listens goes on by itself when the server is back", async () => {
  await using server = await startTestServer({ script });
  const sessionId = await startSession(server);
  const stop = new AbortController();
  const seen: InvokeEvent[] = [];
  const states: string[] = [];
  const listening = (async () => {
    const identity = { clientId: "window-1", name: "test", version: "0" };
    const options = { sessionId, afterSeq: 0n, identity, signal: stop.signal } as const;
    for await (const event of subscribe(server.client, {
      ...options,
      onConnection: ({ state }) => void states.push(state),
    })) {
      seen.push(event);
    }
  })().catch(() => undefined);
  await server.running.drain(100);
  await server.restart();
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "short", clientTurnId: "t" });
  const state = () => endState(seen.filter((event) => event.turnId === turnId));
  for (let look = 0; look < 300 && state() !== "COMPLETED"; look++) await delay(50);
  stop.abort();
  await listening;
  expect(state()).toBe("COMPLETED");
  expect(states).toContain("reconnecting");
});
