import { whatRuns } from "@gennai/machine/workspace/what-runs";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { digestOf } from "@gennai/protocol/digest";
import { loadMcpConfig, type McpConfig, type McpServer } from "./mcp-config.ts";

/** The configured servers of a workspace, each with what it would run of the workspace. */
export async function pinnedServers(
  workspace: Workspace,
  options: {
    readonly configDir: string;
    readonly stateDir: string;
    readonly environment: Readonly<Record<string, string | undefined>>;
  },
): Promise<McpConfig> {
  const { configDir, stateDir, environment } = options;
  const { servers, problems } = await loadMcpConfig(workspace.root, configDir, environment, stateDir);
  const looked = await Promise.all([...servers.values()].map((server) => pinned(server, workspace)));
  return { servers: new Map(looked.map((server) => [server.name, server])), problems };
}

/** The server with the workspace files it would run, which are included in its digest. */
export async function pinned(server: McpServer, workspace: Workspace): Promise<McpServer> {
  const { start, definition } = server;
  if (start.type !== "program") return server;
  const { command, args, environment, cwd } = start;
  const runs = await whatRuns(workspace, [command, ...args, ...Object.values(environment)].join(" "), { cwd });
  return { ...server, runs, digest: Object.keys(runs).length === 0 ? definition : digestOf({ definition, runs }) };
}
