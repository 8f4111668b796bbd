import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { type McpServer, McpServerState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { CallOptions, GovernanceClient } from "../connection/connection.ts";

/** An MCP server that is named for a workspace. All texts are a stranger's. */
export interface NamedMcpServer {
  readonly name: string;
  /** Who configured it: `user`, `project` or `editor`. */
  readonly origin: string;
  /** `new` and `changed`: it does not start. */
  readonly state: "accepted" | "new" | "changed";
  /** The command or address, with its arguments; empty if this user may not know. */
  readonly start: readonly string[];
  /** Files and scripts of the workspace that it runs, and what is in them. */
  readonly runs: readonly { readonly name: string; readonly content: string }[];
  /** Whether the user can log in at its address, and since when they did. */
  readonly login: "none" | "missing" | Date;
  /** Digest of all this; empty if this user cannot accept it. */
  readonly digest: string;
}

export interface NamedMcpServers {
  readonly servers: readonly NamedMcpServer[];
  /** What could not be used, for users. */
  readonly problems: readonly string[];
}

/** Empty if the server is too old. Rejects with `ConnectError`. @param sessionId empty: the default workspace */
export async function listMcpServers(
  client: GovernanceClient,
  sessionId: string,
  options: CallOptions,
): Promise<NamedMcpServers> {
  try {
    const { servers, problems } = await client.listMcpServers({ sessionId }, options);
    return { servers: servers.map(fromMessage), problems };
  } catch (error) {
    if (ConnectError.from(error).code === Code.Unimplemented) return { servers: [], problems: [] };
    throw error;
  }
}

/** The server starts with the next turn. Rejects with `ConnectError`, also if it has changed since it was shown. */
export async function acceptMcpServer(
  client: GovernanceClient,
  sessionId: string,
  { name, digest }: Pick<NamedMcpServer, "name" | "digest">,
  options: CallOptions,
): Promise<void> {
  await client.acceptMcpServer({ sessionId, name, digest }, options);
}

/**
 * Logs in at an accepted server, with a browser on the machine of our server. Resolves when the login is kept; rejects with
 * `ConnectError`.
 * @param show gets the address at which the user agrees; nothing opens it
 */
export async function logInAtMcpServer(
  client: GovernanceClient,
  sessionId: string,
  name: string,
  show: (address: URL) => void,
  options: CallOptions,
): Promise<void> {
  for await (const { address } of client.logInAtMcpServer({ sessionId, name }, options)) {
    const url = URL.parse(address);
    if (url !== null && /^https?:$/.test(url.protocol)) show(url);
  }
}

function fromMessage({ name, origin, state, start, runs, digest, logsIn, loggedIn }: McpServer): NamedMcpServer {
  return {
    name,
    origin,
    digest,
    login: loggedIn === undefined ? (logsIn ? "missing" : "none") : timestampDate(loggedIn),
    // An unknown state must not start.
    state: state === McpServerState.ACCEPTED ? "accepted" : state === McpServerState.CHANGED ? "changed" : "new",
    start: start === "" ? [] : start.split("\n"),
    runs: runs.map((part) => ({ name: part.name, content: part.content })),
  };
}
