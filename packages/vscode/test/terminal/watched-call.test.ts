import { createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentSession } from "@gennai/client/session/agent-session";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, test } from "vitest";
import { runningCall, WatchedOutput } from "#terminal/watched-output";

/** A session in which a call runs that prints, until it is stopped. */
async function watching() {
  const stopped: string[] = [];
  const stop = Promise.withResolvers<void>();
  const at = { turnId: "t", sessionId: "s" };
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      resumeSession: () => ({ session: { workingDir: "/w" }, settings: {} }),
      async *subscribe(_request, { signal }) {
        yield { ...at, seq: 5n, event: { case: "toolOutputDelta", value: { id: "other", text: "of another" } } };
        yield {
          ...at,
          seq: 6n,
          event: { case: "toolOutputDelta", value: { id: "c", text: "one\n\u001b]0;title\u0007" } },
        };
        const gone = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        await Promise.race([stop.promise, gone]);
        yield {
          ...at,
          seq: 7n,
          event: { case: "toolResult", value: { id: "c", error: "The user stopped this call." } },
        };
      },
      async stopToolCall({ turnId, toolCallId }) {
        stopped.push(`${turnId} ${toolCallId}`);
        stop.resolve();
        return { wasRunning: true };
      },
    });
  });
  const identity = { clientId: "me", name: "test", version: "1" };
  const client = createClient(AgentService, transport);
  const session = await AgentSession.resume(client, identity, "s", { signal: AbortSignal.timeout(5000) });
  let shown = "";
  const running = runningCall(session, { turnId: "t", callId: "c", afterSeq: "4", command: "npm test" });
  const call = new WatchedOutput(running, (text) => (shown += text));
  return { call, stopped, shown: () => shown };
}

test("it shows what the call prints, harmless; Ctrl+C stops the call, and its end is told", async () => {
  const { call, stopped, shown } = await watching();
  const watched = call.watch();
  await expect.poll(shown).toContain("one\r\n]0;title");
  expect(shown()).toContain("npm test");
  expect(shown()).not.toContain("of another");
  await call.input("x");
  expect(stopped).toEqual([]);
  await call.input("\u0003");
  await watched;
  expect(stopped).toEqual(["t c"]);
  expect(shown()).toContain("[it has ended: The user stopped this call.]");
  await call.input("\u0003");
  expect(stopped).toEqual(["t c"]);
});

test("closing its terminal leaves it running", async () => {
  const { call, stopped, shown } = await watching();
  const watched = call.watch();
  await expect.poll(shown).toContain("one");
  await call.close();
  await watched;
  expect(stopped).toEqual([]);
});
