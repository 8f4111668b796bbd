import type { ExternalCall } from "@gennai/governance/effect";
import type { Tool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { visibleText } from "@gennai/machine/web/visible-text";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import * as z from "zod";
import type { UserAsker } from "../bridge/session-bridge.ts";
import type { ToolFact } from "../tools/tool-fact.ts";
import { argumentPaths } from "./argument-paths.ts";
import type { McpCallOptions, McpConnection } from "./mcp-connection.ts";
import type { McpDefinition } from "./mcp-definition.ts";
import { McpError, McpSessionForgotten } from "./mcp-error.ts";
import type { McpPins } from "./mcp-pins.ts";
import { checkableSchema, visibleSchema } from "./mcp-schema.ts";
import { inSession } from "./mcp-session.ts";
import { orInBackground, type TaskBackground } from "./task-in-background.ts";

type McpArguments = Readonly<Record<string, unknown>>;

const readsBackground = ["BashOutput", "KillShell"];
/** Maximum characters of a description shown to a model. */
const maxDescription = 2_000;
/** Maximum characters of a schema, as JSON; larger ones are not offered. */
export const maxSchemaCharacters = 64 * 1024;

/**
 * Our name for a server's tool: different from all built-in tools, and from other servers' tools. The specification has dots in
 * names (server/tools, Tool Names), which providers refuse.
 */
export function mcpToolName(server: string, tool: string): string {
  return `mcp__${server}__${tool.replaceAll(".", "_")}`;
}

/** False for names that model providers refuse, or that could be confused with another server's. */
export function isUsableName(server: string, tool: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(mcpToolName(server, tool)) && !/__|_$/.test(server);
}

export interface McpToolPorts {
  readonly connection: () => Promise<McpConnection>;
  readonly pins: McpPins;
  /** Digest of the server: only its own tool is accepted, not one with the same name of another server. */
  readonly serverDigest: string;
  readonly workspace: Workspace;
  readonly home: string;
  /** Working directory of the server, if not the workspace. */
  readonly cwd: string | undefined;
  /** The user lets it run without a question while its definition is the accepted one. */
  readonly trusted: boolean;
  /** The user says that it changes nothing. */
  readonly readsOnly: boolean;
  /** Whom it may ask something in the course of a call. */
  readonly user: UserAsker;
  /** Where its tasks go on; undefined: each is waited for. */
  readonly background: TaskBackground | undefined;
}

/** A tool of an MCP server as one of ours: the same gate, the same records. */
export function createMcpTool(definition: McpDefinition, ports: McpToolPorts): Tool<McpArguments> {
  const { server, tool } = definition;
  return {
    name: mcpToolName(server, tool),
    description: `[MCP server ${server}] ${visibleText(definition.description).slice(0, maxDescription)}`,
    parameters: parametersOf(definition),
    inputSchema: visibleSchema(definition.inputSchema),
    access: ports.readsOnly ? "read" : "change",

    async analyse(args) {
      const pin = await ports.pins.stateOf(definition, ports.serverDigest);
      const effect: ExternalCall = {
        type: "external",
        server,
        tool,
        definition: definition.digest,
        accepted: pin.type === "accepted" ? "yes" : pin.type === "new" ? "new" : "changed",
        ...(pin.type === "other-server" ? { byOtherServer: true as const } : {}),
        trusted: ports.trusted,
        readsOnly: ports.readsOnly,
        paths: await argumentPaths(args, ports),
      };
      const operands: Record<string, string> = {
        definition: definition.digest,
        description: visibleText(definition.description).slice(0, 1_000),
      };
      if (pin.type === "changed")
        operands["accepted description"] = visibleText(pin.acceptedDescription).slice(0, 1_000);
      return {
        statement: `Call ${tool} of the MCP server ${server}`,
        effects: [effect],
        operands,
      };
    },

    async execute(args, analysis, context) {
      const effect = analysis.effects.find((one) => one.type === "external");
      const called = (options: McpCallOptions) => async () => {
        const connection = await ports.connection();
        const now = (await connection.listing()).definitions.find((one) => one.tool === tool);
        // Call only what was decided on.
        if (now?.digest !== effect?.definition) {
          throw new ToolFailure("changed_external_tool", `The MCP server ${server} changed ${tool} meanwhile.`, {
            hint: "Call it again; its new description will be asked about.",
            retryable: true,
          });
        }
        await ports.pins.acceptTool(definition, ports.serverDigest);
        return connection.call(definition, args, options).catch(brokenOff);
      };
      const call = (options: McpCallOptions) => inSession(called(options)).catch(unavailable);
      const facts: ToolFact[] = [];
      const result = await orInBackground(call, {
        onAsked: ({ end, by }) => void facts.push({ type: "user-asked", end, by }),
        user: ports.user,
        context,
        takeOn: (start) => {
          // A result that the agent cannot read is waited for.
          if (!readsBackground.every((name) => context.hasTool(name))) return undefined;
          const toolName = mcpToolName(server, tool);
          return ports.background?.takeOn(`${toolName} ${JSON.stringify(args)}`, { toolName, analysis }, start);
        },
      });
      // A copy: in the background, its server may go on asking.
      const recorded = facts.length > 0 ? { facts: [...facts] } : {};
      if ("run" in result) return { output: result.run, ...recorded };
      return {
        output: result.text,
        images: result.images,
        ...recorded,
        ...(result.isError
          ? { failure: { failureClass: "command_error" as const, message: `${tool} reported an error.` } }
          : {}),
      };
    },
  };
}

/** Only a server that forgot the session surely did nothing. */
function brokenOff(error: unknown): never {
  if (!(error instanceof McpError) || error instanceof McpSessionForgotten) throw error;
  throw new ToolFailure(error.code, error.message, { hint: "It may have run: look before you call it again." });
}

function unavailable(error: unknown): never {
  if (error instanceof McpError) {
    throw new ToolFailure(error.code, error.message, { hint: "Go on without it, or tell the user.", retryable: true });
  }
  throw error;
}

/** Checks arguments against the schema in advance; if the schema is unusable, any object passes and the server judges. */
function parametersOf({ inputSchema }: McpDefinition): z.ZodType<McpArguments> {
  const anything = z.record(z.string(), z.unknown());
  const checkable = checkableSchema(inputSchema);
  if (checkable === undefined) return anything;
  let schema: z.ZodType;
  try {
    schema = z.fromJSONSchema(checkable);
  } catch {
    return anything;
  }
  return anything.superRefine((args, context) => {
    for (const { path, message } of schema.safeParse(args).error?.issues ?? []) {
      context.addIssue({ code: "custom", path: [...path], message });
    }
  });
}
