import { once } from "node:events";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { firstWords, sdkServer } from "./sdk-server.ts";
import { callTool, withUsersServer } from "./users-server.ts";

const newest = "2026-07-28";
const before = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** A server of the newest revision behind an address. @param legacy whether it also speaks those before it */
async function webServer(legacy: "stateless" | "reject") {
  const words = { description: firstWords };
  const handler = createMcpHandler(() => sdkServer(words), { legacy });
  const headers: (string | undefined)[] = [];
  const server = createServer((incoming, outgoing) => {
    const answered = async () => {
      const { method = "GET", url = "/" } = incoming;
      headers.push(incoming.headersDistinct["mcp-param-text"]?.[0]);
      const response = await handler.fetch(
        new Request(new URL(url, "http://127.0.0.1"), {
          method,
          headers: Object.entries(incoming.headersDistinct).map(([name, [value = ""] = []]) => [name, value]),
          ...(method === "POST" ? { body: await text(incoming) } : {}),
        }),
      );
      outgoing.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
      if (response.body === null) outgoing.end();
      else await pipeline(Readable.from(response.body), outgoing);
    };
    answered().catch(() => outgoing.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("it does not listen");
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    headers,
    change() {
      words.description = "Sends it away.";
      handler.notify.toolsChanged();
    },
    async [Symbol.asyncDispose]() {
      await handler.close();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const program = (script: URL, word: string) => ({
  command: process.execPath,
  args: [fileURLToPath(script), word],
});

test.each([...before, newest])(
  "a program that speaks %s alone is listed, called, and heard of changes",
  async (revision) => {
    await using here = await withUsersServer(program(new URL("revision-server.ts", import.meta.url), revision));
    const tools = await here.tools();
    expect([...tools.keys()].slice(0, 2)).toEqual(["mcp__sdk__echo", "mcp__sdk__describe"]);
    const echo = tools.get("mcp__sdk__echo");
    expect(await callTool(echo, { text: "hello" })).toBe(`hello by ${revision}`);
    await callTool(tools.get("mcp__sdk__describe"), {});
    await expect(callTool(echo, { text: "hello" })).rejects.toMatchObject({ code: "changed_external_tool" });
  },
);

test.each(["ends", "ignores"])("an older program that %s what it does not know is used all the same", async (how) => {
  await using here = await withUsersServer(program(new URL("hostile-server.ts", import.meta.url), how));
  expect(await callTool((await here.tools()).get("mcp__sdk__echo"), { text: "hello" })).toBe("hello");
});

test.each(["stateless", "reject"] as const)(
  "an address that serves the newest revision, and older clients: %s",
  async (legacy) => {
    await using far = await webServer(legacy);
    await using here = await withUsersServer({ url: far.url });
    const echo = (await here.tools()).get("mcp__sdk__echo");
    expect(await callTool(echo, { text: "hello" })).toBe(`hello by ${newest}`);
    // What the schema wants as a header is sent as one.
    expect(far.headers).toContain("hello");
    far.change();
    await expect.poll(async () => (await here.tools()).get("mcp__sdk__echo")?.description).toContain("Sends it away.");
    await expect(callTool(echo, { text: "hello" })).rejects.toMatchObject({ code: "changed_external_tool" });
  },
);
