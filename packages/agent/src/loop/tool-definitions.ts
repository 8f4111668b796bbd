import type { GovernedTools } from "@gennai/governance/gate/gate";
import * as z from "zod";
import type { ToolDefinition } from "../model.ts";

/** The tools that a model is told of. */
export function toolDefinitions(tools: GovernedTools, modelId: string): readonly ToolDefinition[] {
  const shown = [...tools.tools].filter(({ shownTo }) => shownTo?.test(modelId) ?? true);
  return shown.map(({ name, description, parameters, inputSchema }) => ({
    name,
    description,
    inputSchema: inputSchema ?? jsonSchemaOf(parameters),
  }));
}

/** Tools are created for every turn; their schemas are cached here. */
const jsonSchemas = new WeakMap<z.ZodType, ToolDefinition["inputSchema"]>();

function jsonSchemaOf(parameters: z.ZodType): ToolDefinition["inputSchema"] {
  const known = jsonSchemas.get(parameters);
  if (known !== undefined) return known;
  // Models know the JSON Schema dialect; `$schema` would be sent with every tool of every request.
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input" });
  jsonSchemas.set(parameters, schema);
  return schema;
}
