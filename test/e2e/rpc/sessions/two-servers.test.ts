import { existsSync } from "node:fs";
import { connect } from "@gennai/client/connection/connection";
import { settingDefaults } from "@gennai/protocol/model/session/session-settings";
import { type RunningServer, startServer } from "@gennai/server/serve";
import { call } from "@gennai/testkit/scripted-steps";
import { type ScriptedTurn, startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import {
  allEvents,
  codeOf,
  endState,
  lastOfGapless,
  lastSeqOf,
  refusalOf,
  runTurn,
  startSession,
  Watcher,
} from "../session-client.ts";

test("two servers on one store: one turn at a time, each sees the other's events, nobody takes a running turn away", async () => {
  const script = [{ steps: [{ text: ["a"] }, { delay_ms: 1500 }, { text: ["b"] }] }, { steps: [{ text: ["Next."] }] }];
  await using first = await startTestServer({ script });
  await using other = await startOther(first, script);
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

test("what a person takes back or changes by one server is decided by what the other wrote", async () => {
  const write = (file_path: string) => ({
    steps: [call("Write", { file_path, content: "new\n" }), { text: ["Written."] }],
  });
  const waiting = { match: "^wait", steps: [{ text: ["a"] }, { delay_ms: 1500 }, { text: ["b"] }] };
  const script = [write("one.txt"), write("two.txt"), waiting];
  await using first = await startTestServer({ script });
  await using other = await startOther(first, script);
  const second = connect({ baseUrl: other.url, token: first.token });
  const isThere = (path: string) => existsSync(first.workspace.path(path));
  const sessionId = await startSession(first);
  expect(endState(await runTurn(first, sessionId, "one"))).toBe("COMPLETED");
  // Opened there, and not looked at again.
  await second.resumeSession({ sessionId });
  expect(endState(await runTurn(first, sessionId, "two"))).toBe("COMPLETED");

  await second.undoChangeSet({ sessionId });
  expect([isThere("one.txt"), isThere("two.txt")]).toEqual([true, false]);

  await using page = await Watcher.attach(first, sessionId, { afterSeq: await lastSeqOf(first, sessionId) });
  const running = runTurn(first, sessionId, "wait");
  await page.next("assistantDelta");
  expect(await codeOf(second.undoChangeSet({ sessionId }))).toBe("failed_precondition");
  expect(isThere("one.txt")).toBe(true);
  expect(await codeOf(second.prepareBranch({ sessionId, task: "another" }))).toBe("failed_precondition");
  expect(await first.workspace.git("branch", "--show-current")).toBe("work");
  expect(endState(await running)).toBe("COMPLETED");
});

/** Another server over the state of the first. */
async function startOther(first: TestServer, script: readonly ScriptedTurn[]): Promise<RunningServer> {
  return startServer({
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
      ...settingDefaults,
      backend: "scripted",
      model: await first.scriptFile(script),
      maxIterations: 5,
      interactive: false,
    },
  });
}
