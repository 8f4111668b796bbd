import type { Limits } from "@gennai/governance/limits/limits";
import { refuseManaged } from "@gennai/machine/managed-refusal";
import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { writeEditorMcp } from "./editor-mcp-file.ts";
import { type McpServer, managedRefusal, pinnedServers } from "./mcp-config.ts";
import { McpError } from "./mcp-error.ts";
import { type LoginPorts, logIn } from "./mcp-login.ts";
import { type LoginPlace, loginPlace, McpLogins } from "./mcp-logins.ts";
import { McpPins } from "./mcp-pins.ts";

export interface McpContext {
  /** Real path. */
  readonly workspaceRoot: string;
  readonly stateDir: string;
  readonly configDir: string;
  /** Environment of this process, for `${NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The limits in force: what they do not permit is not accepted. */
  readonly limits: () => Promise<Limits>;
}

/** State of a server for one workspace. */
export interface McpStatus {
  readonly server: McpServer;
  readonly accepted: boolean;
  /** It was accepted, and has changed since. */
  readonly changed: boolean;
  /** ISO 8601: when the user logged in at its address; undefined if they did not. */
  readonly loggedIn: string | undefined;
}

interface ActPort {
  /** Records what a person did, before it holds. */
  readonly record: (act: { readonly mcp_login: string; readonly mcp_url: string }) => Promise<void>;
}

async function* nothing(): AsyncGenerator<string> {}

/** Lists a workspace's MCP servers and records whether the user allowed them to start there. Starts none. */
export class McpAcceptance {
  readonly #place: McpContext;
  readonly #pins: McpPins;

  constructor(place: McpContext) {
    this.#place = place;
    this.#pins = new McpPins(place.stateDir, place.workspaceRoot);
  }

  async status(): Promise<{ readonly servers: readonly McpStatus[]; readonly problems: readonly string[] }> {
    const { workspaceRoot, stateDir } = this.#place;
    const logins = new McpLogins(stateDir);
    const { servers, problems } = await pinnedServers(openLocalWorkspace(workspaceRoot, { stateDir }), this.#place);
    const states = await Promise.all(
      [...servers.values()].map(async (server) => {
        const state = await this.#pins.stateOfServer(server);
        const { start } = server;
        const login = start.type === "http" ? await logins.find(loginPlace(server.name, start)) : undefined;
        return { server, accepted: state === "accepted", changed: state === "changed", loggedIn: login?.since };
      }),
    );
    return { servers: states, problems };
  }

  /** Where a login at the accepted server is. Throws `McpError` where there is none. */
  async placeOfLogin(name: string): Promise<LoginPlace> {
    const found = (await this.status()).servers.find(({ server }) => server.name === name);
    if (found === undefined) throw new McpError(`There is no MCP server ${JSON.stringify(name)} here.`);
    if (!found.accepted) throw new McpError(`The MCP server ${name} is not accepted here.`);
    const { start } = found.server;
    if (start.type === "program") throw new McpError(`The MCP server ${name} is a program: it logs in by itself.`);
    return loginPlace(name, start);
  }

  /** Logs in at the accepted server with a browser on this machine, see `logIn`. */
  async logIn(name: string, ports: Pick<LoginPorts, "show" | "signal"> & ActPort): Promise<void> {
    const place = await this.placeOfLogin(name);
    const record = () => ports.record({ mcp_login: name, mcp_url: place.url });
    await logIn(place, { ...ports, record, logins: new McpLogins(this.#place.stateDir), pasted: nothing() });
  }

  /**
   * Replaces the servers that an editor named. Like others, they start only after the user accepted them.
   * @param servers by name, each in the form of `.mcp.json`
   */
  offerFromEditor(servers: Readonly<Record<string, unknown>>): Promise<void> {
    return writeEditorMcp(this.#place.stateDir, this.#place.workspaceRoot, servers);
  }

  /**
   * Accepts the current definition of the server, and resolves with it; undefined if there is no server of this name. Rejects with
   * `ManagedRefusal`.
   * @param record gets the definition before it is accepted: if it rejects, nothing is accepted
   * @param digest of what the user saw: if it has changed since, nothing is accepted
   */
  async accept(
    name: string,
    record: (act: { readonly mcp_accepted: string; readonly mcp_digest: string }) => Promise<void>,
    digest?: string,
  ): Promise<McpStatus | undefined> {
    const { servers } = await this.status();
    const found = servers.find(
      ({ server }) => server.name === name && (digest === undefined || server.digest === digest),
    );
    if (found === undefined) return undefined;
    refuseManaged(managedRefusal(await this.#place.limits(), found.server));
    await record({ mcp_accepted: name, mcp_digest: found.server.digest });
    await this.#pins.acceptServer(found.server);
    return found;
  }
}
