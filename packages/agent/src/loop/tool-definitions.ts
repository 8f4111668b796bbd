import type { GovernedTools } from "@gennai/governance/gate/gate";
import * as z from "zod";
import type { ToolDefinition } from "../model.ts";

/**
 * The tools that a model is told of. Those that it asked for come last, in the order of its calls: what a provider has in its cache of
 * the others stays the same.
 * @param wanted names that it asked for
 */
export function toolDefinitions(
  tools: Pick<GovernedTools, "tools">,
  modelId: string,
  wanted: ReadonlySet<string>,
): readonly ToolDefinition[] {
  const shown = [...tools.tools].filter(({ shownTo }) => shownTo?.test(modelId) ?? true);
  const canAsk = shown.some(({ name }) => name === "LoadTools");
  const onRequest = new Map(shown.flatMap((tool) => (canAsk && tool.onRequest ? [[tool.name, tool] as const] : [])));
  const told = [
    ...shown.filter(({ name }) => !onRequest.has(name)),
    ...[...wanted].flatMap((name) => onRequest.get(name) ?? []),
  ];
  return told.map(({ name, description, parameters, inputSchema }) => ({
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
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: "input", override: asTold });
  jsonSchemas.set(parameters, schema);
  return schema;
}

/** What no call comes near, or a model cannot count, would cost tokens in every request. The gate checks it, and says it then. */
function asTold({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  delete jsonSchema.minLength;
  delete jsonSchema.maxLength;
  if ((jsonSchema.maxItems ?? 0) > mostCounted) delete jsonSchema.maxItems;
  if ((jsonSchema.minimum ?? 2) < 2) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/** Entries of a list that a model is told to count. */
const mostCounted = 10;
