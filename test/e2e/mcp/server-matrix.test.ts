import { join } from "node:path";
import { expect, test } from "vitest";
import { callTool, withUsersServer } from "../../../packages/sessions/test/mcp/users-server.ts";
import { sampleOf, seed } from "../../../scripts/lib/tests/sample.mjs";

/** The calls of one server in their order, each with what it answers. */
interface RealServer {
  readonly name: string;
  readonly more: (root: string) => readonly string[];
  readonly calls: (root: string) => readonly (readonly [tool: string, args: object, answer: RegExp])[];
}

const servers: readonly RealServer[] = [
  {
    name: "server-everything",
    more: () => [],
    calls: () => [
      ["echo", { message: "hello" }, /hello/],
      ["get-sum", { a: 2, b: 40 }, /42/],
      ["get-structured-content", { location: "New York" }, /temperature/],
      ["trigger-long-running-operation", { duration: 1, steps: 4 }, /completed/i],
      ["get-resource-links", { count: 2 }, /\[Text Resource 2 .*\n.*plaintext/i],
      ["simulate-research-query", { topic: "milk", ambiguous: false }, /Research Report.*milk/is],
      ["get-resource-reference", { resourceType: "Text", resourceId: 1 }, /resource/i],
      ["get-annotated-message", { messageType: "error", includeImage: true }, /image 1: PNG/],
    ],
  },
  {
    name: "server-filesystem",
    more: (root) => [root],
    calls: (root) => [
      ["write_file", { path: join(root, "new.txt"), content: "milk" }, /Success/],
      ["read_text_file", { path: join(root, "new.txt") }, /milk/],
      ["list_directory", { path: root }, /new\.txt/],
      ["read_text_file", { path: "/etc/hostname" }, /denied/i],
    ],
  },
  {
    name: "server-memory",
    more: () => [],
    calls: () => [
      ["create_entities", { entities: [{ name: "Ada", entityType: "person", observations: ["counts"] }] }, /Ada/],
      ["search_nodes", { query: "Ada" }, /counts/],
    ],
  },
  {
    name: "server-sequential-thinking",
    more: () => [],
    calls: () => [
      [
        "sequentialthinking",
        { thought: "First", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
        /thoughtNumber.*1/s,
      ],
    ],
  },
];

/** `GENNAI_SAMPLES=whole` tries each. */
test.each(sampleOf(servers, 1))(
  `the real $name of npm is listed whole, and does what it is called for (seed ${seed})`,
  async (server) => {
    const program = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol", server.name, "dist/index.js");
    await using here = await withUsersServer((root, outside) => ({
      command: process.execPath,
      args: [program, ...server.more(root)],
      env: { MEMORY_FILE_PATH: join(outside, "memory.jsonl") },
    }));
    for (const [name, args, answer] of server.calls(here.root)) {
      const { tools, warnings } = await here.offered();
      expect(warnings).toEqual([]);
      const tool = tools.find((one) => one.name === `mcp__sdk__${name}`);
      expect(await callTool(tool, args), name).toMatch(answer);
    }
  },
);
