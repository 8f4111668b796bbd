import { Code, ConnectError } from "@connectrpc/connect";
import { type McpServer, McpServerState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { GovernanceClient } from "../connection/connection.ts";

/** An MCP server that is named for a workspace. All texts are a stranger's. */
export interface NamedMcpServer {
  readonly name: string;
  /** Who names it: `user`, `project` or `editor`. */
  readonly origin: string;
  /** `new` and `changed`: it does not start. */
  readonly state: "accepted" | "new" | "changed";
  /** The command or address, and what it is given; empty where this user is not to know. */
  readonly start: readonly string[];
  /** Files and scripts of the workspace that it runs, and what is in them. */
  readonly runs: readonly { readonly name: string; readonly content: string }[];
  /** Of all that; empty where it is not this user's to accept. */
  readonly digest: string;
}

export interface NamedMcpServers {
  readonly servers: readonly NamedMcpServer[];
  /** What could not be used, for people. */
  readonly problems: readonly string[];
}

/** None where the server is too old to tell. Rejects with `ConnectError`. @param sessionId empty: the default workspace */
export async function listMcpServers(
  client: GovernanceClient,
  sessionId: string,
  options: { readonly signal: AbortSignal },
): Promise<NamedMcpServers> {
  try {
    const { servers, problems } = await client.listMcpServers({ sessionId }, options);
    return { servers: servers.map(fromMessage), problems };
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unimplemented) return { servers: [], problems: [] };
    throw error;
  }
}

/** It starts with the next turn when this resolves. Rejects with `ConnectError`, also when it is another one than was seen. */
export async function acceptMcpServer(
  client: GovernanceClient,
  sessionId: string,
  { name, digest }: Pick<NamedMcpServer, "name" | "digest">,
  options: { readonly signal: AbortSignal },
): Promise<void> {
  await client.acceptMcpServer({ sessionId, name, digest }, options);
}

function fromMessage({ name, origin, state, start, runs, digest }: McpServer): NamedMcpServer {
  return {
    name,
    origin,
    digest,
    // What nobody here knows does not start.
    state: state === McpServerState.ACCEPTED ? "accepted" : state === McpServerState.CHANGED ? "changed" : "new",
    start: start === "" ? [] : start.split("\n"),
    runs: runs.map((part) => ({ name: part.name, content: part.content })),
  };
}
