import { toJsonString } from "@bufbuild/protobuf";
import { connect } from "@gennai/client/connection/connection";
import { AgentSession } from "@gennai/client/session/agent-session";
import { SessionView } from "@gennai/client/view/session-view";
import { GetConversationPreviewResponseSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, it } from "vitest";

const signal = new AbortController().signal;

/** Has a command run as a user's, and answers what is asked about it. */
async function ran(command: string, answer: "yes" | "no", files: Readonly<Record<string, string>> = {}) {
  const server = await startTestServer({ files, server: { commands: "staged" } });
  const client = connect({ baseUrl: server.url, token: server.token });
  const asked: string[] = [];
  const confirm = async ({ actionStatement }: { readonly actionStatement: string }) => {
    asked.push(actionStatement);
    return answer === "yes" ? ({ answer, scope: "once" } as const) : ({ answer, reason: "not so" } as const);
  };
  const identity = { clientId: "a", name: "test", version: "1", editor: { confirm } };
  const session = await AgentSession.start(client, identity, {}, { interactive: true, signal });
  const view = new SessionView();
  for await (const event of session.runTurn({ text: command, runsCommand: true }, { signal })) view.apply(event);
  const items = view.cells.map(({ item }) => item.peek());
  const call = items.find((item) => item.kind === "tool-call");
  return { server, session, asked, items, call };
}

it("a user's command runs without a model, and its record says whose it is", async () => {
  const { server, session, items, call } = await ran("echo one > made.txt; echo said", "yes");
  await using _server = server;
  expect(items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["user-message", "tool-call", "turn-end"]));
  expect(items.find((item) => item.kind === "user-message")).toMatchObject({ text: "!echo one > made.txt; echo said" });
  expect(items.some(({ kind }) => kind === "assistant")).toBe(false);
  expect(call).toMatchObject({ name: "Bash", status: "done", result: { output: expect.stringContaining("said") } });
  expect(await server.workspace.read("made.txt")).toBe("one\n");
  const records = await server.workspace.read(".orchestration/agent_trace.jsonl");
  expect(records).toContain('"asked_by":"user"');
  expect(records).not.toContain('"type":"ai"');
  await session.undo({ signal });
  await expect(server.workspace.read("made.txt")).rejects.toThrow();
});

it.each([
  { command: "git push --force", why: "a rule denies it", answer: "yes", asked: 0 },
  { command: "sed -i s/a/b/ package.json", why: "its user says no", answer: "no", asked: 1 },
] as const)("the gate stops it like any other: $why", async ({ command, answer, asked: times }) => {
  const { server, asked, call } = await ran(command, answer, { "package.json": '{ "name": "a" }\n' });
  await using _server = server;
  expect(call).toMatchObject({ result: { failureClass: "permission_denied" } });
  expect(asked).toHaveLength(times);
  expect(await server.workspace.read("package.json")).toContain('"a"');
});

it("a command that holds a secret is not begun, for it would stand in the log", async () => {
  await using server = await startTestServer();
  const client = connect({ baseUrl: server.url, token: server.token });
  const session = await AgentSession.start(
    client,
    { clientId: "a", name: "test", version: "1" },
    {},
    { interactive: true, signal },
  );
  const text = `curl -H "Authorization: Bearer ghp_${"a1B2".repeat(9)}" https://example.com`;
  await expect(session.startTurn({ text, runsCommand: true }, { signal })).rejects.toThrow(/holds a secret/);
});

it("the model is told later that the user ran it", async () => {
  const { server, session } = await ran("echo said", "yes");
  await using _server = server;
  const preview = await server.client.getConversationPreview({ sessionId: session.sessionId });
  expect(toJsonString(GetConversationPreviewResponseSchema, preview)).toContain(
    "I ran this command myself, not you: echo said",
  );
});
