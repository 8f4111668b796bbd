import { CanonicalJsonError } from "@gennai/protocol/canonical-json";
import { digestOf } from "@gennai/protocol/digest";
import { isSpecType } from "@modelcontextprotocol/client";
import * as z from "zod";
import { hasLostReference, hasUnfitHeader } from "./mcp-schema.ts";

/** A tool as its server describes it. Only the digest is verified. */
export interface McpDefinition {
  readonly server: string;
  readonly tool: string;
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: Record<string, unknown>;
  /** SHA-256 of name, description and schema. */
  readonly digest: string;
  /** Its server runs it only as a task. */
  readonly asTask: boolean;
}

/** Of a tool only what is used here: a fault elsewhere, e.g. in its `outputSchema`, keeps nobody from calling it. */
const described = z.object({
  name: z.string(),
  description: z.string().nullish(),
  inputSchema: z.looseObject({}).nullish(),
  execution: z.looseObject({ taskSupport: z.unknown().optional() }).optional().catch(undefined),
});

/**
 * What a server lists as a tool; a text says why it cannot be offered.
 * @param peer whether the server runs calls as tasks, and whether arguments are sent to it as headers too
 */
export function readDefinition(
  server: string,
  listed: unknown,
  { hasTasks, sendsHeaders }: { readonly hasTasks: boolean; readonly sendsHeaders: boolean },
): McpDefinition | string {
  const { data, error: unfit } = described.safeParse(listed);
  if (data === undefined) return `${named(listed)}: ${unfit.issues[0]?.path.join(".") || "it"} is not valid`;
  const { name, execution } = data;
  const description = data.description ?? "";
  // The specification wants a schema of type object (server/tools, Tool); one that says nothing allows any object.
  const inputSchema = { type: "object", ...data.inputSchema };
  if (!isSpecType.Tool({ name, inputSchema })) return `${named(listed)}: inputSchema is not valid`;
  const asTask = execution?.taskSupport === "required";
  if (asTask && !hasTasks) return `${named(listed)}: it runs only as a task, and its server runs none`;
  if (sendsHeaders && hasUnfitHeader(inputSchema))
    return `${named(listed)}: an x-mcp-header of inputSchema is not valid`;
  try {
    const digest = digestOf({ name, description, inputSchema });
    // Providers refuse the whole request for it.
    if (hasLostReference(inputSchema)) return `${named(listed)}: a $ref of inputSchema leads nowhere`;
    return { server, tool: name, description, inputSchema, digest, asTask };
  } catch (error) {
    if (error instanceof CanonicalJsonError) return `${named(listed)}: ${error.message}`;
    throw error;
  }
}

function named(listed: unknown): string {
  return JSON.stringify(z.object({ name: z.string() }).safeParse(listed).data?.name.slice(0, 80) ?? "without a name");
}
