import { connect } from "@gennai/client/connection";
import { startServer } from "@gennai/server/serve";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import {
  allEvents,
  codeOf,
  endState,
  lastOfGapless,
  refusalOf,
  runTurn,
  startSession,
  Watcher,
} from "./session-client.ts";

test("two servers on one store: one turn at a time, each sees the other's events, nobody takes a running turn away", async () => {
  const script = [{ steps: [{ text: ["a"] }, { delay_ms: 600 }, { text: ["b"] }] }, { steps: [{ text: ["Next."] }] }];
  await using first = await startTestServer({ script });
  const model = await first.scriptFile(script);
  await using other = await startServer({
    version: "0.0.0-test",
    address: { type: "tcp", host: "127.0.0.1", port: 0 },
    token: first.token,
    stateDir: first.stateDir,
    workspace: first.workspace.root,
    announce: false,
    environment: {},
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (text, cause) => first.failures.push(`${text} ${String(cause)}`),
    },
    defaultSettings: {
      ...{
        backend: "scripted",
        model,
        baseUrl: "",
        maxTokens: 0,
        maxIterations: 5,
        editingMode: "branch",
        verbosity: "normal",
        interactive: false,
      },
    },
  });
  const second = { ...first, url: other.url, client: connect({ baseUrl: other.url, token: first.token }) };
  const sessionId = await startSession(first);
  const running = runTurn(first, sessionId, "go");
  await using page = await Watcher.attach(second, sessionId);
  await page.next("assistantDelta");

  const refused = await refusalOf(second.client.startTurn({ sessionId, userInput: "me too", clientTurnId: "b" }));
  expect(refused).toMatchObject({ code: "failed_precondition" });
  expect(refused.message).toContain("Another server");
  expect(await codeOf(second.client.writeTodos({ sessionId, items: [{ content: "x" }] }))).toBe("failed_precondition");
  expect(await codeOf(second.client.clearSession({ sessionId }))).toBe("failed_precondition");

  expect(endState(await running)).toBe("COMPLETED");
  expect(await page.end()).toBe("COMPLETED");
  // Now it is free for the other one, and then for the first again.
  expect(endState(await runTurn(second, sessionId, "next"))).toBe("COMPLETED");
  await first.client.writeTodos({ sessionId, items: [{ content: "x" }] });
  lastOfGapless(await allEvents(first, sessionId), 0n);
});
