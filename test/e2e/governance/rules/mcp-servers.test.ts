import { acceptMcpServer, listMcpServers, logInAtMcpServer } from "@gennai/client/governance/mcp-servers";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { authorizedServer } from "../../../../packages/sessions/test/mcp/authorized-server.ts";
import { codeOf, startSession } from "../../rpc/session-client.ts";

const { signal } = new AbortController();
const named = (command: string) =>
  JSON.stringify({
    mcpServers: { theirs: { command, args: ["their-server.mjs"], env: { API_KEY: "not-to-be-shown" } } },
  });

test("a repository's MCP server is accepted as it was seen, and not when it is another one by then", async () => {
  await using server = await startTestServer({
    steps: [{ text: ["Hello."] }],
    files: { "their-server.mjs": "// one\n", ".mcp.json": named("node") },
  });
  const { governance } = server;
  const sessionId = await startSession(server);
  const list = async () => (await listMcpServers(governance, sessionId, { signal })).servers;
  const [seen] = await list();
  expect(seen).toMatchObject({ name: "theirs", origin: "project", state: "new" });
  expect(seen?.start).toEqual(["node their-server.mjs", "with API_KEY=…"]);
  expect(seen?.runs.map(({ name }) => name)).toEqual(["their-server.mjs"]);
  if (seen === undefined) throw new Error("It is not there.");

  // The program changes while the user reads.
  await server.workspace.write("their-server.mjs", "// another\n");
  expect(await codeOf(acceptMcpServer(governance, sessionId, seen, { signal }))).toBe("failed_precondition");
  expect(await codeOf(acceptMcpServer(governance, sessionId, { ...seen, digest: "" }, { signal }))).toBe(
    "invalid_argument",
  );
  expect(await list()).toMatchObject([{ state: "new" }]);

  const [again] = await list();
  if (again === undefined) throw new Error("It is gone.");
  await acceptMcpServer(governance, "", again, { signal });
  expect(await list()).toMatchObject([{ state: "accepted" }]);
  await server.workspace.write(".mcp.json", named("deno"));
  expect(await list()).toMatchObject([{ state: "changed" }]);
});

test("a person logs in at an accepted server, and at no other; who leaves has no login", async () => {
  await using far = await authorizedServer();
  const mcpServers = { far: { url: far.url }, near: { command: "node" } };
  await using server = await startTestServer({
    steps: [{ text: ["Hello."] }],
    files: { ".mcp.json": JSON.stringify({ mcpServers }) },
  });
  const { governance } = server;
  const sessionId = await startSession(server);
  const list = async () => (await listMcpServers(governance, sessionId, { signal })).servers;
  const logIn = (name: string, show: (address: URL) => void, options = { signal }) =>
    logInAtMcpServer(governance, sessionId, name, show, options);
  const agree = (address: URL) => void fetch(address).catch(() => undefined);
  for (const name of ["far", "near", "none"]) expect(await codeOf(logIn(name, agree))).toBe("failed_precondition");
  for (const seen of await list()) await acceptMcpServer(governance, sessionId, seen, { signal });
  expect(await codeOf(logIn("near", agree))).toBe("failed_precondition");
  expect(await list()).toMatchObject([{ login: "missing" }, { login: "none" }]);

  const leaving = new AbortController();
  expect(await codeOf(logIn("far", () => leaving.abort(), leaving))).toBe("canceled");
  expect(await list()).toMatchObject([{ login: "missing" }, { login: "none" }]);

  await logIn("far", agree);
  expect(await list()).toMatchObject([{ login: expect.any(Date) }, { login: "none" }]);
  const { records } = await governance.listLedgerRecords({ sessionId }, { signal });
  expect(records.map(({ json }) => json).join()).toContain('"mcp_login":"far"');
});
