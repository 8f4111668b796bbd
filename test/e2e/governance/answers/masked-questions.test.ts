import { bash } from "@gennai/testkit/scripted-steps";
import { filesHolding } from "@gennai/testkit/stored-files";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, eventsOf, startSession, Watcher } from "../../rpc/session-client.ts";

const token = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");
const command = `touch made.txt && echo GITHUB_TOKEN=${token} > /dev/null`;
const script = [{ steps: [bash(command), { text: ["Done."] }] }];

test("who approves sees the whole command, the database never does", async () => {
  await using server = await startTestServer({ script });
  await using editor = await Watcher.begin(server);
  const { sessionId } = editor;
  const question = await editor.next("confirmationRequest");
  expect(question.actionJson).toContain(token);
  // Anyone who comes later sees it too, as long as it is open.
  await using late = await Watcher.attach(server, sessionId, { clientId: "editor-2" });
  expect((await late.next("confirmationRequest")).actionJson).toBe(question.actionJson);
  expect(filesHolding(server.stateDir, token)).toEqual([]);

  await editor.answer(question);
  expect(await editor.end()).toBe("COMPLETED");
  expect(filesHolding(server.stateDir, token)).toEqual([]);
  const [replayed] = eventsOf(await allEvents(server, sessionId), "confirmationRequest");
  expect(replayed?.actionJson).toContain("[REDACTED:");
  expect(replayed?.actionSha256).toBe(question.actionSha256);
});

test("what a failing model says is masked", async () => {
  await using server = await startTestServer({
    steps: [{ error: { code: "unreachable", message: `refused Authorization: Bearer ${token}` } }],
  });
  const sessionId = await startSession(server);
  const events = await Array.fromAsync(server.client.invoke({ sessionId, userInput: "go" }));
  const shown = JSON.stringify(events, (_key, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
  expect(shown).toContain("[REDACTED:");
  expect(shown).not.toContain(token);
  expect(filesHolding(server.stateDir, token)).toEqual([]);
});
