import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, runTurn, startSession } from "../rpc/session-client.ts";

test("a session gives a typed address no key of the environment, nor one that was set for another address", async () => {
  await using mine = await startModelServer(modelWires["openai-compatible"], () => ({ text: ["Mine."] }));
  await using typed = await startModelServer(modelWires["openai-compatible"], () => ({ text: ["Typed."] }));
  await using server = await startTestServer({
    server: { environment: { ...process.env, OPENAI_API_KEY: "key-of-the-environment" } },
  });
  const backend = Backend.OPENAI_COMPATIBLE;
  await server.client.setModelKey({ backend, baseUrl: mine.baseUrl, key: "key-of-mine" });
  const sessions: string[] = [];
  for (const { baseUrl } of [mine, typed]) {
    const settings = { backend, model: "qwen3", baseUrl, handedKeyOnly: true };
    const sessionId = await startSession(server, { settings });
    sessions.push(sessionId);
    const events = await runTurn(server, sessionId, "hello");
    expect(eventsOf(events, "final")).toHaveLength(1);
  }
  // The log knows it too: after a restart, which forgets what was handed over, and in a copy.
  await server.restart();
  const sessionId = sessions[1] ?? "";
  const fork = await server.client.forkSession({ sessionId });
  for (const each of [sessionId, fork.sessionId])
    expect(eventsOf(await runTurn(server, each, "again"), "final")).toHaveLength(1);
  expect(typed.requests.length).toBeGreaterThanOrEqual(3);
  const keys = ({ requests }: typeof mine) => [...new Set(requests.map(({ headers }) => headers.authorization))];
  expect({ mine: keys(mine), typed: keys(typed) }).toEqual({ mine: ["Bearer key-of-mine"], typed: [undefined] });
});
