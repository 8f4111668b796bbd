import { acceptMcpServer, listMcpServers } from "@gennai/client/governance/mcp-servers";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
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
