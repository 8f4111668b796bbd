import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { describedStart } from "#mcp/described-start";
import { loadMcpConfig } from "#mcp/mcp-config";

test.each<[object, string]>([
  [
    { command: "node", args: ["server.js", "two words"], cwd: "tools", env: { NODE_OPTIONS: "--require ./x.js" } },
    'node server.js "two words"\n  in tools\n  with NODE_OPTIONS=--require ./x.js',
  ],
  [
    { url: "https://example.org/mcp", headers: { "X-Key": "${SECRET_KEY}" } },
    "https://example.org/mcp\n  sends X-Key: ${SECRET_KEY}",
  ],
  [{ command: "run", args: ["--token", "${SECRET_KEY}"] }, "run --token ${SECRET_KEY}"],
])("what is looked at before a server is accepted is all of it, and no secret: %j", async (definition, shown) => {
  await using workspace = await temporaryDirectory();
  await using config = await temporaryDirectory();
  await writeFile(join(workspace.root, ".mcp.json"), JSON.stringify({ mcpServers: { odd: definition } }));
  const { servers } = await loadMcpConfig(workspace.root, config.root, { SECRET_KEY: "not-to-be-shown" });
  const server = servers.get("odd");
  if (server === undefined) throw new Error("it was left out");
  expect(describedStart(server.written, "shown").join("\n  ")).toBe(shown);
});

test("where others look on, values that go by the name of a secret are left out, and nothing else", () => {
  const environment = { API_KEY: "sk-1", NODE_OPTIONS: "--require ./x.js" };
  const program = { type: "program", command: "run", args: [], cwd: undefined, environment } as const;
  expect(describedStart(program, "masked")).toEqual(["run", "with API_KEY=…", "with NODE_OPTIONS=--require ./x.js"]);
  const headers = { Authorization: "Bearer 1", Accept: "text/plain" };
  expect(describedStart({ type: "http", url: "https://example.org/mcp", headers }, "masked")).toEqual([
    "https://example.org/mcp",
    "sends Authorization: …",
    "sends Accept: text/plain",
  ]);
});
