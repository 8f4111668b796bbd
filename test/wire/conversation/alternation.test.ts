import type { ModelAnswer, ModelRefusal } from "@gennai/testkit/model-server/model-answer";
import type { ReceivedModelRequest } from "@gennai/testkit/model-server/model-server";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { endState, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, list, wireWorld } from "../wire-world.ts";

const messageSchema = z.looseObject({ role: z.string(), tool_calls: z.array(z.unknown()).optional() });
const words =
  "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results.";

/**
 * What the template of Devstral and its kin raises: of what is neither a call nor a result, each second message is the user's.
 * llama.cpp tells it with 500 (https://github.com/mistralai/mistral-vibe/issues/255), vLLM with 400
 * (https://github.com/vllm-project/vllm/issues/6862).
 */
function raises({ body }: ReceivedModelRequest): boolean {
  const [system, ...said] = list(body["messages"]).map((message) => messageSchema.parse(message));
  const turns = said.filter(({ role, tool_calls: calls }) => role === "user" || (role === "assistant" && !calls));
  return system?.role !== "system" || turns.some(({ role }, at) => role !== (at % 2 === 0 ? "user" : "assistant"));
}

const files = { "a.txt": "one\n", "lib/AGENTS.md": "Pure.\n", "lib/a.ts": "1\n" };

describe.each([400, 500])("a model that wants alternating roles, told by HTTP %d", (status) => {
  async function alternating(
    model: string,
    answers: (count: number) => ModelAnswer | ModelRefusal | Promise<ModelAnswer>,
  ) {
    let refused = 0;
    let count = 0;
    const world = await wireWorld(
      "openai-compatible",
      (_count, request) => {
        if (raises(request)) {
          refused += 1;
          return { status, message: words };
        }
        count += 1;
        return answers(count);
      },
      { model: `${model}-${status}`, files },
    );
    return { ...world, refused: () => refused };
  }

  test("goes on after an undo, a failed turn, and a kill in the middle of one", async () => {
    const asked = Promise.withResolvers<void>();
    await using world = await alternating("strict", (count) => {
      if (count === 1) return { calls: [call("c1", "Write", { file_path: "b.txt", content: "two\n" })] };
      if (count === 4) return { status: 400, message: "The planets are not aligned." };
      if (count !== 6) return { text: ["Done."] };
      asked.resolve();
      // Never answered.
      return new Promise(() => undefined);
    });
    const { server } = world;
    const sessionId = await startSession(server);
    const states = [endState(await runTurn(server, sessionId, "Write b.txt"))];
    await server.client.undoChangeSet({ sessionId });
    for (const text of ["Again", "And this", "And that"]) states.push(endState(await runTurn(server, sessionId, text)));
    expect(states).toEqual(["COMPLETED", "COMPLETED", "ERROR", "COMPLETED"]);

    await server.client.startTurn({ sessionId, userInput: "Never mind", clientTurnId: "t1" });
    await asked.promise;
    await server.restart();
    expect(endState(await runTurn(server, sessionId, "Are you there?"))).toBe("COMPLETED");
    expect(world.refused()).toBe(0);
    expect(JSON.stringify(world.provider.requests.at(-1)?.body)).toMatch(
      /undid changes.*Again.*And this.*And that.*Never mind.*Are you there/,
    );
  });

  test("what is told behind a result costs one refused request", async () => {
    await using world = await alternating("strict-results", (count) =>
      count === 1 ? { calls: [call("c1", "Read", { file_path: "lib/a.ts" })] } : { text: ["One."] },
    );
    const sessionId = await startSession(world.server);
    for (const text of ["Read", "And now?"])
      expect(endState(await runTurn(world.server, sessionId, text))).toBe("COMPLETED");
    expect(world.refused()).toBe(1);
  });
});
