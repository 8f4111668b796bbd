import { serverRefusal } from "@gennai/governance/limits/laid-down";
import type { Limits } from "@gennai/governance/limits/limits";
import type { McpServer } from "./mcp-config.ts";

/** Why a policy does not let a server start, as a sentence; undefined if it may. */
export function managedRefusal(limits: Limits, { name, start }: Pick<McpServer, "name" | "start">): string | undefined {
  const why = serverRefusal(
    limits,
    start.type === "http"
      ? { url: start.url }
      : { command: [start.command, ...start.args], environment: start.environment },
  );
  return why && `The MCP server ${name} is not started: ${why}`;
}
