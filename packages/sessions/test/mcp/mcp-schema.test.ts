import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import type { McpDefinition } from "#mcp/mcp-definition";
import { McpPins } from "#mcp/mcp-pins";
import { hasUnfitHeader } from "#mcp/mcp-schema";
import { createMcpTool, isUsableName, mcpToolName } from "#mcp/mcp-tool";
import { nobody } from "./users-server.ts";

const hidden = "\u{E0041}\u{E0042}\u200b\u202e\u{E0100}\u{E01EF}\ufe00\u3164\u180e\u001b[8m";

async function withTool(
  inputSchema: Record<string, unknown>,
  look: (tool: ReturnType<typeof createMcpTool>) => void | Promise<void>,
  description = "Says it back.",
) {
  await using state = await temporaryDirectory();
  await using directory = await temporaryDirectory();
  const definition: McpDefinition = {
    server: "odd",
    tool: "echo",
    description,
    inputSchema,
    asTask: false,
    digest: "d",
  };
  await look(
    createMcpTool(definition, {
      connection: () => Promise.reject(new Error("not called")),
      pins: new McpPins(state.root, directory.root),
      serverDigest: "s",
      workspace: openLocalWorkspace(directory.root, { stateDir: state.root }),
      home: "/home/nobody",
      cwd: undefined,
      trusted: false,
      readsOnly: false,
      user: nobody,
      background: undefined,
    }),
  );
}

test("an expression of the server's is not run here", async () => {
  const text = { type: "string", pattern: "^(([a-z])+.)+[A-Z]([a-z])+$" };
  await withTool({ type: "object", properties: { text, more: { type: "array", items: text } } }, (tool) => {
    const begun = process.cpuUsage();
    expect(tool.parameters.safeParse({ text: "a".repeat(60), more: ["a".repeat(60)] }).success).toBe(true);
    expect(process.cpuUsage(begun).user / 1000).toBeLessThan(1_000);
    expect(tool.parameters.safeParse({ text: 1 }).success).toBe(false);
  });
});

test("references that unfold without end are left to the server", async () => {
  const $defs: Record<string, unknown> = { d40: { type: "string" } };
  for (let level = 0; level < 40; level += 1) {
    const next = { $ref: `#/$defs/d${level + 1}` };
    $defs[`d${level}`] = { allOf: [next, next] };
  }
  await withTool({ type: "object", properties: { text: { $ref: "#/$defs/d0" } }, $defs }, (tool) => {
    expect(tool.parameters.safeParse({ text: "x" }).success).toBe(true);
    expect(tool.parameters.safeParse("x").success).toBe(false);
  });
});

test("a property may be called as a keyword is", async () => {
  const properties = { pattern: { type: "string" }, format: { type: "string" }, $ref: { type: "number" } };
  await withTool({ type: "object", properties, required: ["pattern"], additionalProperties: false }, (tool) => {
    expect(tool.parameters.safeParse({ pattern: "x", format: "y", $ref: 1 }).success).toBe(true);
    expect(tool.parameters.safeParse({ format: "y" }).success).toBe(false);
    expect(tool.parameters.safeParse({ pattern: "x", other: 1 }).success).toBe(false);
  });
  const open = { type: "object", patternProperties: { "^x-": { type: "string" } }, additionalProperties: false };
  await withTool(open, (tool) => expect(tool.parameters.safeParse({ "x-a": "b" }).success).toBe(true));
});

test("neither the model nor who is asked gets what cannot be seen", async () => {
  const properties = { text: { type: "string", description: `Text.${hidden}`, enum: [`a${hidden}`] } };
  await withTool(
    { type: "object", properties },
    async (tool) => {
      expect(tool.inputSchema).toEqual({
        type: "object",
        properties: { text: { type: "string", description: "Text.[8m", enum: ["a[8m"] } },
      });
      expect(tool.description).toBe("[MCP server odd] Says it back.[8m");
      const analysis = await tool.analyse({}, { callId: "c", turnId: "t", signal: new AbortController().signal });
      expect(analysis.operands).toMatchObject({ description: "Says it back.[8m" });
    },
    `Says it back.${hidden}`,
  );
});

test("no two servers' tools have one name", () => {
  expect(mcpToolName("a_", "b")).toBe(mcpToolName("a", "_b"));
  expect([isUsableName("a_", "b"), isUsableName("a", "_b"), isUsableName("a__b", "c")]).toEqual([false, true, false]);
});

// https://github.com/makenotion/notion-mcp-server/issues/340 (Anthropic and OpenAI refuse alternatives at the top), and
// https://github.com/backstage/backstage/issues/34038 (lists without `items`). What is called is checked against the schema as it was.
test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  [
    "alternatives at the top",
    {
      type: "object",
      properties: { path: { type: "string" } },
      required: ["path"],
      additionalProperties: false,
      anyOf: [
        { properties: { text: { type: "string" }, as: { type: "string" } }, required: ["text", "as"] },
        { properties: { url: { type: "string" }, as: { type: "string" } }, required: ["url", "as"] },
      ],
    },
    {
      type: "object",
      properties: {
        text: { type: "string" },
        as: { type: "string" },
        url: { type: "string" },
        path: { type: "string" },
      },
      required: ["path", "as"],
      additionalProperties: true,
    },
  ],
  [
    "parts at the top, by reference",
    {
      allOf: [{ $ref: "#/$defs/a" }, { required: ["b"], properties: { b: {} } }],
      $defs: { a: { properties: { a: { type: "string" } } } },
      if: {},
      else: {},
    },
    {
      type: "object",
      properties: { a: { type: "string" }, b: {} },
      required: ["b"],
      additionalProperties: true,
      $defs: { a: { properties: { a: { type: "string" } } } },
    },
  ],
  [
    "a reference to itself",
    { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } },
    { type: "object", properties: {}, additionalProperties: true, $defs: { a: { $ref: "#/$defs/a" } } },
  ],
  ["nothing", {}, { type: "object", properties: {} }],
  [
    "lists of anything",
    {
      type: "object",
      properties: {
        list: { type: "array" },
        either: { anyOf: [{ type: ["array", "null"] }] },
        type: { type: "string" },
      },
    },
    {
      type: "object",
      properties: {
        list: { type: "array", items: {} },
        either: { anyOf: [{ type: ["array", "null"], items: {} }] },
        type: { type: "string" },
      },
    },
  ],
])("a schema with %s is one that providers take", async (_name, schema, sent) => {
  await withTool(schema, (tool) => expect(tool.inputSchema).toEqual(sent));
});

test("alternatives are checked before a call, though the model was not told them", async () => {
  const one = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
  await withTool({ type: "object", anyOf: [one("text"), one("url")] }, (tool) => {
    expect(tool.parameters.safeParse({ url: "x" }).success).toBe(true);
    expect(tool.parameters.safeParse({}).success).toBe(false);
  });
});

test.each<[string, object, boolean]>([
  [
    "a header of each plain kind",
    { a: { type: "string", "x-mcp-header": "A" }, b: { type: "integer", "x-mcp-header": "B" } },
    false,
  ],
  [
    "one of a property in a property",
    { a: { type: "object", properties: { b: { type: "boolean", "x-mcp-header": "B" } } } },
    false,
  ],
  ["a property of this name", { "x-mcp-header": { type: "string" } }, false],
  ["a value of this name", { a: { type: "string", default: { "x-mcp-header": "?" } } }, false],
  ["no name of a header", { a: { type: "string", "x-mcp-header": "A\r\nHost" } }, true],
  ["an empty name", { a: { type: "string", "x-mcp-header": "" } }, true],
  ["twice the same", { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } }, true],
  ["no plain value", { a: { type: "object", "x-mcp-header": "A" } }, true],
  ["one of many", { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } }, true],
  ["one of an alternative", { a: { anyOf: [{ type: "string", "x-mcp-header": "A" }] } }, true],
])("x-mcp-header: %s", (_what, properties, isUnfit) => {
  expect(hasUnfitHeader({ type: "object", properties })).toBe(isUnfit);
});
