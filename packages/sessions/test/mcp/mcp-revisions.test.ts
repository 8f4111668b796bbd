import { fileURLToPath } from "node:url";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { firstWords, sdkServer } from "./sdk-server.ts";
import { callTool, withUsersServer } from "./users-server.ts";
import { listeningHandler } from "./web-handler.ts";

const newest = "2026-07-28";
const before = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/** A server of the newest revision behind an address. @param legacy whether it also speaks those before it */
async function webServer(legacy: "stateless" | "reject") {
  const words = { description: firstWords };
  const handler = createMcpHandler(() => sdkServer(words), { legacy });
  const headers: (string | null)[] = [];
  const { origin, ...listening } = await listeningHandler((request) => {
    headers.push(request.headers.get("mcp-param-text"));
    return handler.fetch(request);
  });
  return {
    url: `${origin}/mcp`,
    headers,
    change() {
      words.description = "Sends it away.";
      handler.notify.toolsChanged();
    },
    async [Symbol.asyncDispose]() {
      await handler.close();
      await listening[Symbol.asyncDispose]();
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
