import { Code, ConnectError } from "@connectrpc/connect";
import { connect } from "@gennai/client/connection/connection";
import { subscribe } from "@gennai/client/session/subscription";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { startManyUsersServer } from "@gennai/testkit/many-users";
import { expect, test } from "vitest";

// Each waits for a token's end and has a server of its own: they wait together.

/** Half a second between words. */
const talkOf = (words: number) => [
  { steps: Array.from({ length: words }, (_, index) => [{ delay_ms: 500 }, { text: [`word ${index} `] }]).flat() },
];
const talk = talkOf(8);

test.concurrent("a stream ends when the token does, and says so", async () => {
  await using world = await startManyUsersServer({ script: talk });
  const ada = await world.user({ user: "ada", expires: 12 });
  const { sessionId } = await ada.client.startSession({});
  const began = performance.now();
  const stream = (async () => {
    for await (const _ of ada.client.subscribe({ sessionId })) continue;
  })();
  const error = ConnectError.from(
    await stream.then(
      () => new Error("it ended"),
      (reason: unknown) => reason,
    ),
  );
  expect(error.code).toBe(Code.Unauthenticated);
  expect(error.findDetails(ErrorInfoSchema)[0]).toMatchObject({ code: "token_expired" });
  expect(performance.now() - began).toBeLessThan(60_000);
  await expect(ada.client.getServerInfo({})).rejects.toMatchObject({ code: Code.Unauthenticated });
});

test.concurrent("a client with a fresh token goes on where it was, and nothing is lost or told twice", async () => {
  await using world = await startManyUsersServer({ script: talkOf(16) });
  let renewed = 0;
  const token = () => world.issuer.sign({ user: "ada", tenant: "acme", expires: 5 });
  const client = connect({
    baseUrl: world.server.url,
    token: await token(),
    renewToken: () => {
      renewed += 1;
      return token();
    },
  });
  const { sessionId } = await client.startSession({});
  const { turnId } = await client.startTurn({ sessionId, userInput: "talk", clientTurnId: "t" });
  const identity = { clientId: "c", name: "test", version: "1" };
  const seqs: bigint[] = [];
  let text = "";
  const { signal } = new AbortController();
  for await (const event of subscribe(client, { sessionId, afterSeq: 0n, identity, signal, untilTurnId: turnId })) {
    const { event: inner, firstSeq, seq } = event;
    for (let at = firstSeq; at <= seq; at += 1n) seqs.push(at);
    if (inner.case === "assistantDelta") text += inner.value.text;
  }
  expect(text).toBe(Array.from({ length: 16 }, (_, index) => `word ${index} `).join(""));
  expect(seqs).toEqual(seqs.map((_, index) => BigInt(index + 1)));
  expect(renewed).toBeGreaterThanOrEqual(1);
  // A call that finds the token expired is made again with a fresh one.
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  expect((await client.getServerInfo({})).protocolVersion).toBe(1);
});

test.concurrent("a token that is refused once and for all is not tried again and again", async () => {
  await using world = await startManyUsersServer();
  let renewed = 0;
  const bad = await world.issuer.sign({ user: "ada", tenant: "acme", audience: "another" });
  const client = connect({
    baseUrl: world.server.url,
    token: bad,
    renewToken: async () => {
      renewed += 1;
      return bad;
    },
  });
  await expect(client.getServerInfo({})).rejects.toMatchObject({ code: Code.Unauthenticated });
  expect(renewed).toBe(1);
});

test.concurrent("a turn goes on when the token of who started it ends", async () => {
  await using world = await startManyUsersServer({ script: talkOf(16) });
  const ada = await world.user({ user: "ada", expires: 5 });
  const { sessionId } = await ada.client.startSession({});
  const { turnId } = await ada.client.startTurn({ sessionId, userInput: "talk", clientTurnId: "t" });
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  const again = await world.user({ user: "ada" });
  let end = "";
  for await (const { event } of again.client.subscribe({ sessionId, untilTurnId: turnId })) {
    if (event.case === "final") end = event.value.text;
  }
  expect(end).toContain("word 15");
});

test.concurrent("keys that cannot be had are no reason to throw a token away", async () => {
  await using world = await startManyUsersServer();
  const ada = await world.user({ user: "ada" });
  world.issuer.fail(500);
  await expect(ada.client.getServerInfo({})).rejects.toMatchObject({ code: Code.Unavailable });
});
