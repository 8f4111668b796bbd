import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { stateDirectory } from "@gennai/protocol/state-directory";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/agent-options.ts";
import { gennai as gennaiAt, type ServerAddress } from "../agent/gennai.ts";
import { connect } from "../connection/connection.ts";
import { proveServer } from "../connection/prove-server.ts";
import { announcedServers } from "./announced-servers.ts";
import { startServer } from "./start-server.ts";

export { Agent } from "../agent/agent.ts";
export { AgentError } from "../agent/agent-error.ts";
export type * from "../agent/gennai.ts";

/** On this machine: where the agent works, and by which server. */
export interface LocalAgentOptions extends Omit<AgentOptions, "workspace">, Partial<Pick<ServerAddress, "token">> {
  /** The present directory, unless named. */
  readonly workspace?: string;
  /**
   * `auto`, as is usual: a server of this user that works there already, else one that ends with this program; `own`: always one of
   * its own; or the address of another.
   */
  readonly server?: string;
  /** Program and first arguments of a server that is started; `["gennai"]`, as installed, unless named. */
  readonly command?: readonly string[];
}

/** Begins a session, or goes on with one, on a server that is found, started or named. Rejects with `AgentError`. */
export async function gennai(options: LocalAgentOptions = {}): Promise<Agent> {
  const { server = "auto", token, command = ["gennai"], workspace: named, ...rest } = options;
  if (server !== "auto" && server !== "own") {
    const workspace = named === undefined ? {} : { workspace: named };
    return gennaiAt({ ...rest, ...workspace, server, ...(token === undefined ? {} : { token }) });
  }
  const workspace = await realpath(named ?? ".");
  const found = server === "auto" ? await runningServer(workspace, rest.signal) : undefined;
  if (found !== undefined) return gennaiAt({ ...rest, workspace, ...found });
  const started = await startServer({ command, workspace, signal: rest.signal });
  try {
    const client = connect({ baseUrl: started.url, token: started.token });
    return await Agent.open(
      { client, url: started.url, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() },
      { ...rest, workspace },
    );
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
}

/** A server of this user that works there and proves who it is. */
async function runningServer(workspace: string, signal: AbortSignal | undefined): Promise<ServerAddress | undefined> {
  const { env: environment, platform } = process;
  const directory = stateDirectory({ environment, platform, home: homedir() });
  if (directory === undefined) return undefined;
  for (const { url: server, token, socketPath, workspace: place } of (await announcedServers(directory)).servers) {
    if (place !== workspace || socketPath !== undefined || !server.startsWith("http:")) continue;
    if (token === null) return { server };
    if ((await proveServer(server, token, { signal })).type === "proven") return { server, token };
  }
  return undefined;
}
