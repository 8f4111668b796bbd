import type { Scenario } from "@gennai/agent/scenarios/scenario";
import type { ClientSide } from "@gennai/machine/workspace/workspace";

/** Warnings about what does not work if a client holds the files, as far as this turn may need it. */
export function warningsForClient(client: ClientSide, scenario: Scenario): readonly string[] {
  return [
    ...(client.commands === "none"
      ? ["No commands run in this session: the client that holds the files runs none."]
      : []),
    ...(scenario.mcp.some((name) => name !== "*")
      ? ["MCP servers run on the server's machine, which has none of these files: none is offered."]
      : []),
  ];
}
