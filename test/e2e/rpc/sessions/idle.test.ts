import { setTimeout as delay } from "node:timers/promises";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { startSession, Watcher } from "../session-client.ts";

const script = [{ match: "go", steps: [{ text: ["On it."] }, { delay_ms: 2_500 }, { text: ["Done."] }] }];

/** "idle" as soon as the server got no calls for 300 ms; "needed" if calls continue. */
async function within(server: TestServer, milliseconds: number): Promise<"idle" | "needed"> {
  const stop = new AbortController();
  const idle = server.running.idleFor(300, stop.signal).then(() => "idle" as const);
  const found = await Promise.race([idle, delay(milliseconds, "needed" as const)]);
  stop.abort();
  return found;
}

test("a server is needed while a client listens, a turn runs that nobody watches, or something was just asked", async () => {
  await using server = await startTestServer({ script });
  const sessionId = await startSession(server);
  {
    await using _listening = await Watcher.attach(server, sessionId);
    expect(await within(server, 1_500)).toBe("needed");
  }
  expect(await within(server, 20_000)).toBe("idle");
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "t" });
  expect(await within(server, 1_500)).toBe("needed");
  expect(await within(server, 30_000)).toBe("idle");
  const session = await server.running.manager.get(sessionId);
  expect(session.runningTurnId).toBe(undefined);
});
