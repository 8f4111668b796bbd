import type { Transport } from "@connectrpc/connect";
import { connect, connectGovernance, openTransport } from "@gennai/client/connection/connection";
import { workspaceHeader } from "@gennai/protocol/workspace-header";
import { call } from "@gennai/testkit/scripted-steps";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { refusalOf, runTurn, startSession } from "../session-client.ts";

/** Clients of a window that works there. */
function from({ url: baseUrl, token }: TestServer, header: string) {
  const plain = openTransport({ baseUrl, token });
  const transport: Transport = {
    ...plain,
    unary: (method, signal, timeoutMs, headers, ...rest) =>
      plain.unary(method, signal, timeoutMs, { ...headers, [workspaceHeader]: header }, ...rest),
  };
  return { agent: connect({ baseUrl, transport }), governance: connectGovernance({ baseUrl, transport }) };
}

test("what names no session is about the workspace that the header names", async () => {
  await using elsewhere = await temporaryRepository({ "ä b.txt": "" });
  await using server = await startTestServer({ steps: [call("LS", { path: "." }), { text: ["Hello."] }] });
  await runTurn(server, await startSession(server), "hello");
  const here = from(server, encodeURIComponent(server.workspace.root));
  const there = from(server, encodeURIComponent(elsewhere.root));
  expect((await here.agent.getServerInfo({})).defaultWorkingDir).toBe(server.workspace.root);
  expect((await there.agent.getServerInfo({})).defaultWorkingDir).toBe(elsewhere.root);
  const { session } = await server.client.resumeSession({ sessionId: (await there.agent.startSession({})).sessionId });
  expect(session?.workingDir).toBe(elsewhere.root);
  expect((await there.governance.listLedgerRecords({})).records).toEqual([]);
  expect((await here.governance.listLedgerRecords({})).records.length).toBeGreaterThan(0);
});

test("a header that names no directory is refused with what to do, and one that nobody writes is not read", async () => {
  await using server = await startTestServer();
  const { agent } = from(server, encodeURIComponent("/is/not/there"));
  expect(await refusalOf(agent.getServerInfo({}))).toMatchObject({ code: "invalid_argument" });
  expect(await refusalOf(from(server, "relative").agent.startSession({}))).toMatchObject({ code: "invalid_argument" });
  expect((await from(server, "%").agent.getServerInfo({})).defaultWorkingDir).toBe(server.workspace.root);
});
