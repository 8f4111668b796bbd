import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { describe, expect, test } from "vitest";
import {
  allEvents,
  anotherClient,
  endState,
  eventsOf,
  refusalOf,
  runTurn,
  startSession,
} from "../../e2e/rpc/session-client.ts";
import { cachedSequence, call, expectPrefixes, formats, list, type WireWorld, wireWorld } from "../wire-world.ts";

const files = { "a.txt": "one\n", "b.txt": "two\n" };

/** A world whose model says what `say` tells it to say while each of its calls is on the way, before it answers. */
async function worldThatHears(
  format: (typeof formats)[number],
  answers: readonly ModelAnswer[],
  heard: Readonly<Record<number, (world: WireWorld) => Promise<void>>>,
): Promise<WireWorld> {
  const world: WireWorld = await wireWorld(
    format,
    async (count) => {
      await heard[count]?.(world);
      return answers[count - 1] ?? { text: ["(no more)"] };
    },
    { files },
  );
  return world;
}

/** Says something to the running turn of the only session, as a second client would. */
async function say(world: WireWorld, messageId: string, text: string): Promise<void> {
  const client = anotherClient(world.server);
  const [session] = (await client.listSessions({})).sessions;
  await client.queueMessage({ sessionId: session?.sessionId ?? "", messageId, text });
}

describe.each(formats)("%s", (format) => {
  test("what is said during a turn is in the model's next request, behind the results, and stays there", async () => {
    const answers: readonly ModelAnswer[] = [
      { thinking: ["Look."], calls: [call("c1", "Read", { file_path: "a.txt" })] },
      { calls: [call("c2", "Read", { file_path: "b.txt" })] },
      // Complete, but for what was said while it was written.
      { text: ["Both are read."] },
      { text: ["In French: lus."] },
      { text: ["Still here."] },
      { text: ["In the fork."] },
    ];
    await using world = await worldThatHears(format, answers, {
      1: async (at) => {
        await say(at, "m1", "Only @a.txt matters");
        await say(at, "m2", "and be short");
        // The way broke, the client says it again.
        await say(at, "m2", "and be short");
      },
      3: (at) => say(at, "m3", "Now in French"),
    });
    const { server, provider } = world;
    const sessionId = await startSession(server);
    const events = await runTurn(server, sessionId, "Read both", { enableThinking: true });
    expect(endState(events)).toBe("COMPLETED");
    expect(eventsOf(events, "userMessage").map(({ messageId, text }) => [messageId, text])).toEqual([
      ["", "Read both"],
      ["m1", "Only @a.txt matters"],
      ["m2", "and be short"],
      ["m3", "Now in French"],
    ]);

    await server.restart();
    expect(endState(await runTurn(server, sessionId, "Are you there?", { enableThinking: true }))).toBe("COMPLETED");
    const fork = (await server.client.forkSession({ sessionId })).sessionId;
    expect(endState(await runTurn(server, fork, "And you?", { enableThinking: true }))).toBe("COMPLETED");

    expectPrefixes(format, provider.requests);
    const sent = provider.requests.map((request) => cachedSequence(format, request));
    const times = (words: string) => sent.map((parts) => parts.filter((part) => part.includes(words)).length);
    expect(times("Only @a.txt matters")).toEqual([0, 1, 1, 1, 1, 1]);
    expect(times("and be short")).toEqual([0, 1, 1, 1, 1, 1]);
    expect(times("Now in French")).toEqual([0, 0, 0, 1, 1, 1]);
    // Behind the result, with the file that it mentions.
    const second = sent[1] ?? [];
    const result = second.findLastIndex((part) => part.includes("one") && !part.includes("Only @a.txt matters"));
    const said = second.findIndex((part) => part.includes("Only @a.txt matters"));
    expect(said).toBe(result + 1);
    expect(second[said]).toContain("one");
    // And nothing but the other message behind it; or in it, where a model may want the roles to alternate.
    expect(second.length - said).toBe(format === "openai-compatible" ? 1 : 2);
  });
});

test("what was taken back is told to nobody, and is given to one who takes it", async () => {
  const taken: string[] = [];
  await using world = await worldThatHears(
    "openai-compatible",
    [{ calls: [call("c1", "Read", { file_path: "a.txt" })] }, { text: ["Done."] }],
    {
      1: async (at) => {
        await say(at, "m1", "Not that");
        const client = anotherClient(at.server);
        const sessionId = (await client.listSessions({})).sessions[0]?.sessionId ?? "";
        const both = [1, 2].map(() => refusalOf(client.withdrawMessage({ sessionId, messageId: "m1" })));
        taken.push(...(await Promise.all(both)).map(({ code, info }) => info ?? code));
      },
    },
  );
  const sessionId = await startSession(world.server);
  expect(endState(await runTurn(world.server, sessionId, "Read"))).toBe("COMPLETED");
  expect(taken.toSorted((one, other) => one.localeCompare(other))).toEqual(["message_gone", "ok"]);
  expect(JSON.stringify(world.provider.requests.map(({ body }) => body["messages"]))).not.toContain("Not that");
});

test("what a turn's end overtakes stays, over a restart, until somebody takes it back; no later turn is told it", async () => {
  await using world = await worldThatHears("openai-compatible", [{ text: ["Never."] }, { text: ["Next."] }], {
    1: async (at) => {
      await say(at, "m1", "Wait, I meant b.txt; the key is sk-ant-api03-" + "a".repeat(93) + "AA");
      const client = anotherClient(at.server);
      const [session] = (await client.listSessions({})).sessions;
      await client.cancelTurn({ sessionId: session?.sessionId ?? "" });
    },
  });
  const { server, provider } = world;
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, "Read"))).toBe("CANCELLED");
  await server.restart();
  expect(endState(await runTurn(server, sessionId, "Go on"))).toBe("COMPLETED");
  expect(JSON.stringify(list(provider.requests.at(-1)?.body["messages"]))).not.toContain("b.txt");
  const queued = eventsOf(await allEvents(server, sessionId), "messageQueued");
  expect(queued.map(({ messageId }) => messageId)).toEqual(["m1"]);
  expect(queued[0]?.text).not.toContain("aaaaaaaaaa");
  const { text } = await server.client.withdrawMessage({ sessionId, messageId: "m1" });
  expect(text).toContain("Wait, I meant b.txt");
  expect(await refusalOf(server.client.withdrawMessage({ sessionId, messageId: "m1" }))).toMatchObject({
    code: "already_exists",
    info: "message_gone",
  });
  // Nothing listens between turns, and what is malformed is said to be.
  const refusals = [
    ["m2", "hello", "failed_precondition", "no_turn_listens"],
    ["", "hello", "invalid_argument", "invalid_argument"],
    ["m3", "  ", "invalid_argument", "invalid_argument"],
  ] as const;
  for (const [messageId, words, code, info] of refusals) {
    const refused = await refusalOf(server.client.queueMessage({ sessionId, messageId, text: words }));
    expect(refused).toMatchObject({ code, info });
  }
});
