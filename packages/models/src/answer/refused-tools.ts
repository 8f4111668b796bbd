import type { ModelRequest, ToolDefinition } from "@gennai/agent/model";

/** Tools whose schema a server did not take, by base URL and model, and in it by name. For this process: each costs one refused request. */
const refused = new Map<string, Map<string, string>>();

/** The request without the tools that this server refused before, as they are. */
export function withoutRefusedTools(server: string, request: ModelRequest): ModelRequest {
  const known = refused.get(server);
  if (known === undefined) return request;
  return { ...request, tools: request.tools.filter((tool) => known.get(tool.name) !== JSON.stringify(tool)) };
}

/**
 * The tool whose schema a refusal is about, kept out of all later requests: one that a provider does not take would have each of them
 * refused. Undefined for any other refusal.
 */
export function refusedTool(server: string, refusal: string, tools: ModelRequest["tools"]): ToolDefinition | undefined {
  if (!/schema|parameters|function.?declaration/i.test(refusal)) return undefined;
  // The words of Anthropic, of OpenAI, and of Google, which counts or names them.
  const [, index] =
    /\btools\.(\d+)\.|function_?declarations\[(\d+)\]/i.exec(refusal)?.filter((each) => each !== undefined) ?? [];
  const byName = tools.filter(({ name }) => new RegExp(`[\`'"]${name}[\`'"]`).test(refusal));
  const tool = byName[0] ?? (index === undefined ? undefined : tools[Number(index)]);
  if (tool === undefined) return undefined;
  const known = refused.get(server) ?? new Map<string, string>();
  refused.set(server, known.set(tool.name, JSON.stringify(tool)));
  return tool;
}

/** Said to people. */
export function leftOut({ name }: ToolDefinition): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  const which = server === undefined ? `the tool ${name}` : `the tool ${tool} of the MCP server ${server}`;
  return `The model's provider refuses the schema of ${which}: it is left out.`;
}
