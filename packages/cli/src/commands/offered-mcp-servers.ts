import type { EditorMcpServers } from "@gennai/acp/editor/editor-mcp-servers";
import { describedStart } from "@gennai/sessions/mcp/described-start";
import { McpAcceptance, type McpContext, type McpStatus } from "@gennai/sessions/mcp/mcp-acceptance";
import type { GoverningAct } from "@gennai/store/ledger/record-act";

type NamedServer = Parameters<EditorMcpServers["offer"]>[1][number];

/**
 * Treats the MCP servers that an editor names as servers of its workspace, which a person must accept first.
 * @param record writes to the workspace's ledger that a person accepted one
 */
export function editorMcpServers(
  place: Omit<McpContext, "workspaceRoot">,
  record: (workspaceRoot: string, act: GoverningAct) => Promise<void>,
): EditorMcpServers {
  const acceptanceOf = (workspaceRoot: string) => new McpAcceptance({ ...place, workspaceRoot });
  return {
    async offer(workingDir, named) {
      const acceptance = acceptanceOf(workingDir);
      await acceptance.offerFromEditor(Object.fromEntries(named.map((server) => [nameOf(server), written(server)])));
      const { servers } = await acceptance.status();
      return servers
        .filter(({ server, accepted }) => server.origin === "editor" && !accepted)
        .map((status) => ({
          name: status.server.name,
          digest: status.server.digest,
          described: described(status),
        }));
    },
    async accept(workingDir, { name, digest }) {
      const recorded = (act: GoverningAct) => record(workingDir, act);
      if ((await acceptanceOf(workingDir).accept(name, recorded, digest)) !== undefined) return;
      throw new Error(`The MCP server ${name} has changed since. Start a new session to be asked again.`);
    },
  };
}

/** A name that fits into names of tools, made of one that editors write for people. */
function nameOf({ name }: NamedServer): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, "-").slice(0, 40);
}

function written(server: NamedServer): unknown {
  const record = (pairs: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  if ("command" in server) return { command: server.command, args: server.args, env: record(server.env) };
  if (server.type === "sse") {
    throw new Error(
      `The MCP server ${server.name} speaks SSE, which is not taken. Name its HTTP address, or a program.`,
    );
  }
  return { url: server.url, headers: record(server.headers) };
}

/** All that a person accepts. Secret values are masked. */
function described({ server: { written: start, runs }, changed }: McpStatus): string {
  return [
    ...(changed ? ["It is not the one that was accepted."] : []),
    ...describedStart(start, "masked"),
    ...Object.entries(runs).map(([name, text]) => `runs ${name}: ${text}`),
  ].join("\n");
}
