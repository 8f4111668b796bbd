import type { ModelAnswer } from "@gennai/testkit/model-server/model-answer";
import { filesHolding } from "@gennai/testkit/stored-files";
import { expect, test } from "vitest";
import { call } from "../../wire/wire-world.ts";
import { isSummaryRequest, providerWorld } from "../long-sessions/provider-world.ts";
import { allEvents, endState, runTurn, startSession } from "../rpc/session-client.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const apiKey = ["key", "7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZ"].join("-");
const token = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");
const planted = [apiKey, token];

/** Files below a directory that hold one of the texts, as they are or encoded. */
function leaks(directory: string): readonly string[] {
  const texts = planted.flatMap((text) => [text, encodeURIComponent(text), Buffer.from(text).toString("base64")]);
  return filesHolding(directory, ...texts);
}

const models = { anthropic: "claude-sonnet-4-5", openai: "gpt-5", gemini: "gemini-3-pro-preview" } as const;

test.each(Object.keys(models) as readonly (keyof typeof models)[])(
  "no byte of a key lies in the state, wherever %s says it: thinking, what is opaque beside it, text, arguments, a summary",
  async (backend) => {
    const answers: readonly ModelAnswer[] = [
      {
        thinking: [`The key is ${apiKey.slice(0, 9)}`, `${apiKey.slice(9)} and ${token}.`],
        calls: [call("c1", "Grep", { pattern: token })],
      },
      { thinking: ["Nothing here."], signature: token, calls: [call("c2", "Ls", { path: "." })] },
      { thinking: ["Nor here."], signature: apiKey, calls: [call("c3", "Ls", { path: "src" })] },
      { text: [`I was called with ${apiKey}, and know ${token}.`] },
    ];
    await using world = await providerWorld(
      (count, request) =>
        isSummaryRequest(request) || JSON.stringify(request.body).includes("Summarise this conversation.")
          ? { text: [`The user's key is ${apiKey}, the token ${token}.`] }
          : (answers[count - 1] ?? { text: ["Done."] }),
      {
        backend,
        files: { "src/a.ts": "1\n" },
        settings: { model: models[backend] },
        server: { environment: { ...process.env, GENNAI_API_KEY: apiKey } },
      },
    );
    const { server, provider } = world;
    const sessionId = await startSession(server);
    expect(endState(await runTurn(server, sessionId, "look"))).toBe("COMPLETED");
    expect(endState(await runTurn(server, sessionId, "and again"))).toBe("COMPLETED");
    expect(await server.client.compactSession({ sessionId })).toMatchObject({ compacted: true });
    expect(endState(await runTurn(server, sessionId, "go on"))).toBe("COMPLETED");
    // It was said, and it was needed: the test would not fail for nothing.
    expect(JSON.stringify(provider.requests[0]?.headers)).toContain(apiKey);
    const events = await allEvents(server, sessionId);
    const shown = JSON.stringify(events, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    expect(shown).toContain("[REDACTED");
    for (const secret of planted) expect(shown).not.toContain(secret);
    expect(leaks(server.stateDir)).toEqual([]);
    await server.restart();
    expect(endState(await runTurn(server, sessionId, "and now?"))).toBe("COMPLETED");
    expect(leaks(server.stateDir)).toEqual([]);
    // What goes back to the provider beside the key itself, neither.
    const sent = provider.requests.slice(1).map(({ body }) => JSON.stringify(body));
    expect(sent.filter((text) => planted.some((secret) => text.includes(secret)))).toEqual([]);
  },
);
