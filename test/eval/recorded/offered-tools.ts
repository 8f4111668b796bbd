import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { modelWires, startModelServer } from "@gennai/testkit/model-server/model-server";
import type { TestServer } from "@gennai/testkit/test-server";
import { Ajv, type ValidateFunction } from "ajv";
import { runTurn, startSession } from "../../e2e/rpc/session-client.ts";

/** What a model is offered: by the name of each tool, whether arguments are as its JSON Schema says. */
export async function offeredTools(server: TestServer): Promise<ReadonlyMap<string, ValidateFunction>> {
  await using provider = await startModelServer(modelWires["openai-compatible"], () => ({ text: ["Hello."] }));
  const settings = { backend: Backend.OPENAI_COMPATIBLE, model: "any", baseUrl: provider.baseUrl };
  const sessionId = await startSession(server, { settings });
  await runTurn(server, sessionId, "hello");
  const ajv = new Ajv({ strict: false });
  const tools = new Map<string, ValidateFunction>();
  for (const tool of listOf(provider.requests[0]?.body["tools"])) {
    const offered = tool as { readonly function: { readonly name: string; readonly parameters: object } };
    tools.set(offered.function.name, ajv.compile(closed(offered.function.parameters)));
  }
  if (tools.size === 0) throw new Error("The server offered its model no tools.");
  return tools;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The schema without arguments that it does not name: a model is not told that there are none. */
function closed(schema: object): object {
  const close = (_key: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && "properties" in value
      ? { additionalProperties: false, ...value }
      : value;
  return JSON.parse(JSON.stringify(schema, close)) as object;
}
