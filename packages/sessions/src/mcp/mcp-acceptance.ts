import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { writeEditorMcp } from "./editor-mcp-file.ts";
import type { McpServer } from "./mcp-config.ts";
import { McpPins } from "./mcp-pins.ts";
import { pinnedServers } from "./pinned-servers.ts";

export interface McpContext {
  /** Real path. */
  readonly workspaceRoot: string;
  readonly stateDir: string;
  readonly configDir: string;
  /** Of this process: where `${NAME}` is looked up. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A server as it stands for one workspace. */
export interface McpStatus {
  readonly server: McpServer;
  readonly accepted: boolean;
  /** It was accepted, and is another one since. */
  readonly changed: boolean;
}

/** Which MCP servers a workspace has, and the user's word that they may start there. Starts none. */
export class McpAcceptance {
  readonly #place: McpContext;
  readonly #pins: McpPins;

  constructor(place: McpContext) {
    this.#place = place;
    this.#pins = new McpPins(place.stateDir, place.workspaceRoot);
  }

  async status(): Promise<{ readonly servers: readonly McpStatus[]; readonly problems: readonly string[] }> {
    const { workspaceRoot, stateDir } = this.#place;
    const { servers, problems } = await pinnedServers(openLocalWorkspace(workspaceRoot, { stateDir }), this.#place);
    const states = await Promise.all(
      [...servers.values()].map(async (server) => {
        const state = await this.#pins.stateOfServer(server);
        return { server, accepted: state === "accepted", changed: state === "changed" };
      }),
    );
    return { servers: states, problems };
  }

  /**
   * Makes the servers known that an editor names, in place of those that it named before. They start no sooner than others that
   * nobody accepted.
   * @param servers by name, each in the form of `.mcp.json`
   */
  offerFromEditor(servers: Readonly<Record<string, unknown>>): Promise<void> {
    return writeEditorMcp(this.#place.stateDir, this.#place.workspaceRoot, servers);
  }

  /**
   * Accepts the server as it is now, and resolves with that; undefined when there is none of this name.
   * @param record gets what is accepted, before it is: where it rejects, nothing is accepted
   * @param digest of what the user saw, where that may have changed by now: then nothing is accepted
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
    await record({ mcp_accepted: name, mcp_digest: found.server.digest });
    await this.#pins.acceptServer(found.server);
    return found;
  }
}
