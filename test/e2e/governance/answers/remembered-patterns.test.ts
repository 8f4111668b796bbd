import { existsSync, readFileSync } from "node:fs";
import { ConfirmationScope, EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { codeOf, eventsOf, startSession, Watcher } from "../../rpc/session-client.ts";

const files = Object.fromEntries(["a", "b", "c", "d"].map((name) => [`src/${name}.ts`, "x\n"]));

/** With each pattern. */
const session = { scope: ConfirmationScope.SESSION };

async function asking(commands: readonly string[]) {
  const steps = commands.map((text) => bash(text));
  const server = await startTestServer({
    files,
    script: [
      { match: "^first", steps: [...steps, { text: ["Done."] }] },
      { match: "^next", steps: [bash("rm src/d.ts"), { text: ["Done."] }] },
    ],
  });
  const sessionId = await startSession(server, { interactive: true });
  const editor = await Watcher.attach(server, sessionId);
  return { server, sessionId, editor };
}

const start = (server: TestServer, sessionId: string, userInput: string) =>
  server.client.startTurn({ sessionId, userInput, clientTurnId: userInput });

test("a yes to a pattern lets the same kind of command pass, and the ledger says by which answer", async () => {
  const { server, sessionId, editor } = await asking([
    "touch src/x.ts",
    "rm src/a.ts",
    "rm src/b.ts",
    "rm src/c.ts > log",
  ]);
  await using _server = server;
  await using _editor = editor;
  await start(server, sessionId, "first");
  await editor.answer(await editor.next("confirmationRequest"), { scope: ConfirmationScope.ONCE });
  const second = await editor.until((events) => eventsOf(events, "confirmationRequest")[1]);
  const [pattern] = second.patterns;
  expect(pattern).toMatchObject({ text: "rm src/*.ts", rule: "commands/not-proven-to-read", matchedBefore: [] });
  expect(pattern?.wouldMatch).toEqual(["rm src/other.ts"]);
  expect(pattern?.wouldNotMatch).toContain("rm src/other.ts > file");
  await editor.answer(second, { ...session, patternId: pattern?.id ?? "" });
  // The second rm passes, the third is another kind of command and asks.
  const third = await editor.until((events) => eventsOf(events, "confirmationRequest")[2]);
  expect(third.actionStatement).toContain("rm src/c.ts > log");
  expect(existsSync(server.workspace.path("src/b.ts"))).toBe(false);
  await editor.answer(third, { scope: ConfirmationScope.ONCE });
  expect(await editor.end()).toBe("COMPLETED");

  const ledger = readFileSync(server.workspace.path(".orchestration/agent_trace.jsonl"), "utf8");
  const answers = ledger
    .trim()
    .split("\n")
    .flatMap((line) => {
      const record = JSON.parse(line) as {
        metadata: { kind: string; calls?: { input: string; confirmation?: object }[] };
      };
      return record.metadata.kind === "intent" ? (record.metadata.calls ?? []) : [];
    });
  expect(answers.find(({ input }) => input.includes("src/a.ts"))?.confirmation).toMatchObject({
    answer: "yes",
    scope: "session",
    pattern: "rm src/*.ts",
  });
  expect(answers.find(({ input }) => input.includes("src/b.ts"))?.confirmation).toMatchObject({
    by: "remembered",
    pattern: "rm src/*.ts",
    remembered_from: second.toolCallId,
  });
});

test("an emergency takes remembered patterns away", async () => {
  const { server, sessionId, editor } = await asking(["rm src/a.ts"]);
  await using _server = server;
  await using _editor = editor;
  await start(server, sessionId, "first");
  const question = await editor.next("confirmationRequest");
  await editor.answer(question, { ...session, patternId: question.patterns[0]?.id ?? "" });
  expect(await editor.end()).toBe("COMPLETED");
  const { governance } = server;
  for (const enabled of [true, false]) {
    await governance.setEmergencyControl({ control: EmergencyControl.READ_ONLY, enabled, reason: "test", by: "test" });
  }
  await start(server, sessionId, "next");
  const asked = await editor.until((events) => eventsOf(events, "confirmationRequest")[1]);
  expect(asked.actionStatement).toContain("rm src/d.ts");
  expect(asked.patterns[0]?.matchedBefore).toHaveLength(1);
});

test("a pattern that was not offered is no yes", async () => {
  const { server, sessionId, editor } = await asking(["rm src/a.ts"]);
  await using _server = server;
  await using _editor = editor;
  await start(server, sessionId, "first");
  const question = await editor.next("confirmationRequest");
  expect(await codeOf(editor.answer(question, { ...session, patternId: "no digest" }))).toBe("invalid_argument");
  await editor.answer(question, { ...session, patternId: "0".repeat(64) });
  expect(await editor.end()).toBe("COMPLETED");
  expect(existsSync(server.workspace.path("src/a.ts"))).toBe(true);
});
