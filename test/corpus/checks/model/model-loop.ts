import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { providerWorld } from "../../../e2e/long-sessions/provider-world.ts";
import { endState, eventsOf, runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { call } from "../../../wire/wire-world.ts";
import { type Checks, check } from "../../corpus-case.ts";

/** What a model does in its answers: rows of the group `model`. */
export const modelLoopChecks: Checks = {
  "MOD-008": check(async () => {
    const calls = ["first.txt", "second.txt"].map((file_path) => call("c1", "Write", { file_path, content: "x\n" }));
    // The chat completions format gives the second call its own id before it is shown.
    await using world = await providerWorld((count) => (count === 1 ? { calls } : { text: ["ok"] }), {
      backend: "anthropic",
    });
    const { server, provider } = world;
    const events = await runTurn(server, await startSession(server), "go");
    assert.equal(endState(events), "COMPLETED");
    assert.deepEqual([server.workspace.path("first.txt"), server.workspace.path("second.txt")].map(existsSync), [
      true,
      false,
    ]);
    const results = eventsOf(events, "toolResult");
    assert.equal(new Set(results.map(({ id }) => id)).size, 2);
    assert.equal(results.filter(({ output }) => output.includes("duplicate_call_id")).length, 1);
    assert.equal(provider.requests.length, 2);
  }),
  "MOD-011": check(async () => {
    const calls = Array.from({ length: 1_000 }, (_, at) =>
      call(`c${at}`, "Write", { file_path: `f${at}`, content: "x" }),
    );
    await using world = await providerWorld((count) => (count === 1 ? { calls } : { text: ["ok"] }));
    const sessionId = await startSession(world.server, { settings: { maxIterations: 50 } });
    const events = await runTurn(world.server, sessionId, "go");
    assert.equal(endState(events), "ERROR");
    assert.equal(events.find(({ event }) => event.case === "error")?.errorInfo?.code, "tool_call_limit");
    assert.equal(eventsOf(events, "toolResult").length, 0);
  }),
};
