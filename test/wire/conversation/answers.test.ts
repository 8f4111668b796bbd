import { existsSync } from "node:fs";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { describe, expect, test } from "vitest";
import { endState, eventOf, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, type Format, formats, wireWorld } from "../wire-world.ts";

interface Told {
  readonly state: string;
  readonly code: string | undefined;
  readonly text: string | undefined;
  readonly asked: number;
}

const codeIn = (events: readonly InvokeEvent[]) => events.find(({ event }) => event.case === "error")?.errorInfo?.code;

/** A turn in which the model answers like this, in order. */
async function turn(format: Format, answers: readonly ModelAnswer[]): Promise<Told> {
  await using world = await wireWorld(format, answers, { files: { "a.txt": "one\n" } });
  const events = await runTurn(world.server, await startSession(world.server), "What does a.txt say?");
  return {
    state: endState(events),
    code: codeIn(events),
    text: eventsOf(events, "final")[0]?.text,
    asked: world.provider.requests.length,
  };
}

/** In the words of each provider's reference: that the output limit was reached, and that the answer was refused or filtered. */
const words: Readonly<Record<Format, { readonly length: string; readonly refused: string }>> = {
  // https://platform.openai.com/docs/api-reference/chat/object#chat/object-choices
  "openai-compatible": { length: "length", refused: "content_filter" },
  // https://platform.openai.com/docs/api-reference/responses/object#responses/object-incomplete_details
  openai: { length: "max_output_tokens", refused: "content_filter" },
  // https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
  anthropic: { length: "max_tokens", refused: "refusal" },
  // https://ai.google.dev/api/generate-content#FinishReason
  gemini: { length: "MAX_TOKENS", refused: "SAFETY" },
};

describe.each(formats)("%s", (format) => {
  const { length, refused } = words[format];

  test("a cut answer is gone on with, and is one in the end", async () => {
    const answers: readonly ModelAnswer[] = [
      { text: ["It says "], finish: length },
      { text: ["one"], finish: length },
      { text: ["."] },
    ];
    expect(await turn(format, answers)).toEqual({
      state: "COMPLETED",
      code: undefined,
      text: "It says one.",
      asked: 3,
    });
  });

  test("a refusal ends the turn and says so; what it called does not run, and is not told again", async () => {
    const touched = call("c1", "Write", { file_path: "made.txt", content: "x" });
    const refusal: ModelAnswer = { text: ["I"], calls: [touched], finish: refused };
    await using world = await wireWorld(format, [refusal, { text: ["Bye."] }]);
    const sessionId = await startSession(world.server);
    const events = await runTurn(world.server, sessionId, "go");
    // The responses API says that an answer is incomplete, and has the calls that are whole in it.
    expect(endState(events)).toBe("ERROR");
    expect(codeIn(events)).toBe("answer_refused");
    expect(existsSync(world.server.workspace.path("made.txt"))).toBe(false);
    await runTurn(world.server, sessionId, "bye");
    expect(JSON.stringify(world.provider.requests.at(-1)?.body)).not.toContain("made.txt");
  });

  // https://platform.openai.com/docs/api-reference/responses/create: a name is of letters, digits, `_` and `-`.
  test("a call of what is not a name goes back as one that the provider takes", async () => {
    const odd = call("c1", "functions.Read: a file", { file_path: "a.txt" });
    await using world = await wireWorld(format, [{ calls: [odd] }, { text: ["Done."] }]);
    const events = await runTurn(world.server, await startSession(world.server), "go");
    expect(endState(events)).toBe("COMPLETED");
    const sent = JSON.stringify(world.provider.requests[1]?.body);
    expect(sent).toContain("functions_Read__a_file");
    expect(sent).not.toContain('"functions.Read: a file"');
  });
});

test("one that is cut again and again is not success", async () => {
  const cut = { text: ["and "], finish: "length" };
  const told = await turn("openai-compatible", Array<ModelAnswer>(9).fill(cut));
  expect(told).toEqual({ state: "ERROR", code: "answer_cut", text: undefined, asked: 5 });
});

test("an empty answer is asked about, and then no success", async () => {
  const read = { calls: [call("c1", "Read", { file_path: "a.txt" })] };
  expect(await turn("openai-compatible", [read, { text: [] }, { text: ["One."] }])).toMatchObject({
    state: "COMPLETED",
    asked: 3,
  });
  expect(await turn("openai-compatible", [read, { text: [] }, { text: [" "] }, { text: [] }])).toEqual({
    state: "ERROR",
    code: "answer_empty",
    text: undefined,
    asked: 4,
  });
});

// https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons: the answer goes back as it is, to be gone on with.
test("anthropic: a paused turn goes on", async () => {
  const told = await turn("anthropic", [{ text: ["Wait. "], finish: "pause_turn" }, { text: ["One."] }]);
  expect(told).toEqual({ state: "COMPLETED", code: undefined, text: "Wait. One.", asked: 2 });
});

// https://ai.google.dev/api/generate-content#FinishReason
test("gemini: a malformed call is asked for again, and leaves nothing behind", async () => {
  const malformed = { text: ["call:Read{"], finish: "MALFORMED_FUNCTION_CALL" };
  await using world = await wireWorld("gemini", [malformed, malformed, { text: ["One."] }]);
  const events = await runTurn(world.server, await startSession(world.server), "Read it");
  expect(endState(events)).toBe("COMPLETED");
  expect(eventOf(events, "final").text).toBe("One.");
  expect(JSON.stringify(world.provider.requests[2]?.body)).not.toContain("call:Read{");
  expect(await turn("gemini", [malformed, malformed, malformed, malformed])).toMatchObject({
    code: "answer_malformed",
  });
});

test("a call that was cut at the output limit is said to be cut", async () => {
  const half = { id: "c1", name: "Read", arguments: {}, raw: '{"file_path": "a.' };
  await using world = await wireWorld("openai-compatible", [{ calls: [half], finish: "length" }, { text: ["One."] }]);
  await runTurn(world.server, await startSession(world.server), "Read it");
  expect(JSON.stringify(world.provider.requests[1]?.body)).toContain("may be half of what you meant");
});
