import { join } from "node:path";
import { userConfig } from "@gennai/testkit/user-config";
import { expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { type Format, list, wireWorld } from "../wire-world.ts";

const mcpServer = join(import.meta.dirname, "../../../packages/sessions/test/mcp/hostile-server.ts");

/** Where each format has its tools, and how its provider says that it does not take the schema of the one at that place. */
const refusals: readonly (readonly [Format, (index: number, name: string) => string])[] = [
  // https://github.com/makenotion/notion-mcp-server/issues/341
  [
    "anthropic",
    (index) => `tools.${index}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`,
  ],
  // https://platform.openai.com/docs/guides/function-calling
  [
    "openai",
    (_index, name) =>
      `Invalid schema for function '${name}': In context=('properties', 'deep'), reference can only point to definitions`,
  ],
  [
    "openai-compatible",
    (_index, name) => `Invalid schema for function '${name}': reference can only point to definitions`,
  ],
  // https://github.com/NousResearch/hermes-agent/issues/77617
  [
    "gemini",
    (index) =>
      `GenerateContentRequest.tools[0].function_declarations[${index}].parameters.properties[deep].ref: unknown field.`,
  ],
];

test.each(refusals)(
  "%s: a tool whose schema is refused is left out and named, and the others stay",
  async (format, words) => {
    const mcpServers = { odd: { command: process.execPath, args: [mcpServer, "odd-schema"] } };
    await using config = await userConfig({ "mcp.json": { mcpServers } });
    let refused = 0;
    const sent: string[] = [];
    await using world = await wireWorld(
      format,
      (_count, { body }) => {
        const tools =
          format === "gemini"
            ? list(body["tools"]).flatMap((each) => list(Reflect.get(Object(each), "functionDeclarations")))
            : list(body["tools"]);
        const texts = tools.map((tool) => JSON.stringify(tool));
        const index = texts.findIndex((text) => text.includes("mcp__odd__odd"));
        sent.push(texts.join());
        if (index < 0) return { text: ["Hello."] };
        refused += 1;
        return { status: 400, message: words(index, "mcp__odd__odd") };
      },
      { server: { environment: config.environment } },
    );
    const sessionId = await startSession(world.server);
    const events = await runTurn(world.server, sessionId, "hello");
    expect(endState(events)).toBe("COMPLETED");
    expect(eventsOf(events, "warning")).toContain(
      "The model's provider refuses the schema of the tool odd of the MCP server odd: it is left out.",
    );
    const later = await runTurn(world.server, sessionId, "and now?");
    expect([endState(later), eventsOf(later, "warning"), refused]).toEqual(["COMPLETED", [], 1]);
    expect(sent.at(-1)).toContain("mcp__odd__echo");
  },
);
