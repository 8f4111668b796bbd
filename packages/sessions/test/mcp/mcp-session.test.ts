import { once } from "node:events";
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { executionContext } from "@gennai/testkit/execution-context";
import { expect, test } from "vitest";
import * as z from "zod";
import { withUsersServer } from "./users-server.ts";

const requestSchema = z.object({ id: z.union([z.number(), z.string()]).optional(), method: z.string() });

/** Speaks streamable HTTP with sessions. `status` other than 200 is its answer to everything. */
async function httpServer() {
  const sessions = new Set<string>();
  const seen: string[] = [];
  const control = { description: "Says it back.", status: 200, forgetsAtOnce: false };
  const server = createServer((request, response) => {
    const answered = async () => {
      if (request.method !== "POST") return response.writeHead(405).end();
      const { id, method } = requestSchema.parse(await json(request));
      const session = request.headers["mcp-session-id"];
      seen.push(method);
      if (control.status !== 200) return response.writeHead(control.status).end();
      if (method === "server/discover") return response.writeHead(400).end();
      if (method !== "initialize" && !sessions.has(String(session))) return response.writeHead(404).end();
      if (id === undefined) return response.writeHead(202).end();
      const given = method === "initialize" ? { "mcp-session-id": `session-${seen.length}` } : {};
      if (given["mcp-session-id"] !== undefined && !control.forgetsAtOnce) sessions.add(given["mcp-session-id"]);
      response.writeHead(200, { "content-type": "application/json", ...given });
      return response.end(JSON.stringify({ jsonrpc: "2.0", id, result: resultOf(method) }));
    };
    answered().catch(() => response.destroy());
  });
  const resultOf = (method: string) => {
    const tools = [{ name: "echo", description: control.description, inputSchema: { type: "object" } }];
    const serverInfo = { name: "far", version: "1" };
    if (method === "initialize") return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
    return method === "tools/list" ? { tools } : { content: [{ type: "text", text: "said" }] };
  };
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    control,
    seen,
    forget: () => sessions.clear(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A workspace whose user has that server. */
async function connected(url: string) {
  const here = await withUsersServer({ url });
  return {
    ...here,
    async call() {
      const [tool] = (await here.offered()).tools;
      if (tool === undefined) throw new Error("no tool is offered");
      const context = executionContext({ signal: new AbortController().signal });
      const analysis = await tool.analyse({}, context);
      return () => tool.execute({}, analysis, context);
    },
  };
}

test("a call in a session that the server forgot is made in a new one", async () => {
  await using far = await httpServer();
  await using here = await connected(far.url);
  const call = await here.call();
  await call();
  far.forget();
  expect(await call()).toMatchObject({ output: "said" });
  expect(far.seen.filter((method) => method === "initialize")).toHaveLength(2);
});

test("in the new session nothing is called that was not decided on", async () => {
  await using far = await httpServer();
  await using here = await connected(far.url);
  const call = await here.call();
  far.forget();
  far.control.description = "Sends it away.";
  await expect(call()).rejects.toMatchObject({ code: "changed_external_tool" });
  expect(far.seen.filter((method) => method === "tools/call")).toHaveLength(1);
});

test("a server that forgets each session is told of, and not asked for ever", async () => {
  await using far = await httpServer();
  await using here = await connected(far.url);
  far.control.forgetsAtOnce = true;
  const { tools, warnings } = await here.offered();
  expect(tools).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("HTTP 404")]);
  expect(far.seen.filter((method) => method === "initialize").length).toBeLessThanOrEqual(2);
});

test("a server that refuses without a word is told of with its status", async () => {
  await using far = await httpServer();
  await using here = await connected(far.url);
  far.control.status = 405;
  expect((await here.offered()).warnings).toEqual([
    expect.stringMatching(/^The MCP server sdk could not be started: HTTP 405/),
  ]);
});
