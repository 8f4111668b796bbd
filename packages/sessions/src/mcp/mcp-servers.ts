import type { Warning } from "@gennai/agent/events/warning";
import type { Limits } from "@gennai/governance/limits/limits";
import type { Tool } from "@gennai/governance/tool";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { errorMessage } from "@gennai/protocol/error-message";
import { editorMcpFile } from "./editor-mcp-file.ts";
import { onRequestIfMany } from "./load-tools-tool.ts";
import { type McpServer, managedRefusal, pinned, pinnedServers, projectMcpFile } from "./mcp-config.ts";
import type { McpConnection, McpListing } from "./mcp-connection.ts";
import { McpError } from "./mcp-error.ts";
import { McpLogins } from "./mcp-logins.ts";
import { McpPins } from "./mcp-pins.ts";
import { inSession } from "./mcp-session.ts";
import { createMcpTool, isUsableName, type McpToolPorts, maxSchemaCharacters, mcpToolName } from "./mcp-tool.ts";

export interface McpServersOptions {
  readonly stateDir: string;
  readonly configDir: string;
  readonly home: string;
  /** The server's environment, for `${NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Environment of server programs. */
  readonly commandEnvironment: Readonly<Record<string, string>>;
  readonly version: string;
  /** The limits in force: servers that they do not permit are not started, and not called any more. */
  readonly limits: () => Promise<Limits>;
  /** Is told each token of a login, to mask it in texts. */
  readonly learn: (secret: string) => void;
}

export interface OfferedTools {
  readonly tools: readonly Tool[];
  /** Why a server or a tool is missing, for the user. */
  readonly warnings: readonly (string | Warning)[];
}

/**
 * The MCP servers of all workspaces. A server is started when a turn first offers its tools, and runs until this is disposed;
 * one that ended, or whose definition changed, is restarted.
 */
export class McpServers implements AsyncDisposable {
  readonly #options: McpServersOptions;
  readonly #connections = new Map<string, { readonly digest: string; readonly opening: Promise<McpConnection> }>();
  readonly #pins = new Map<string, McpPins>();
  readonly #logins: McpLogins;

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#logins = new McpLogins(options.stateDir, options.learn);
  }

  /**
   * @param wanted names of servers, or `*`
   * @param calls.user whom they may ask something in the course of a call
   * @param calls.background where their tasks go on; undefined: each is waited for
   */
  async tools(
    workspace: Workspace,
    wanted: readonly string[],
    calls: Pick<McpToolPorts, "user" | "background">,
  ): Promise<OfferedTools> {
    if (wanted.length === 0) return { tools: [], warnings: [] };
    const { servers, problems } = await pinnedServers(workspace, this.#options);
    const pins = this.#pinsOf(workspace.root);
    const warnings: (string | Warning)[] = [...problems];
    for (const name of wanted) {
      if (name !== "*" && !servers.has(name)) warnings.push(`There is no MCP server ${JSON.stringify(name)}.`);
    }
    const chosen = [...servers.values()].filter(({ name }) => wanted.includes("*") || wanted.includes(name));
    const offered = await Promise.all(
      chosen.map(async (server): Promise<OfferedTools> => {
        const refused = managedRefusal(await this.#options.limits(), server);
        if (refused !== undefined) return { tools: [], warnings: [{ text: refused, code: "managed_policy" }] };
        const state = await pins.stateOfServer(server);
        if (state !== "accepted") return { tools: [], warnings: [unaccepted(server, state)] };
        try {
          const listed = async () => (await this.#connection(workspace, server)).listing();
          return this.#offer(workspace, server, calls, await inSession(listed));
        } catch (error) {
          return { tools: [], warnings: [errorMessage(error)] };
        }
      }),
    );
    return {
      tools: offered.flatMap(({ tools }) => tools),
      warnings: [...warnings, ...offered.flatMap((one) => one.warnings)],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = [...this.#connections.values()];
    this.#connections.clear();
    await Promise.all(
      open.map(async ({ opening }) => {
        const connection = await opening.catch(() => undefined);
        await connection?.[Symbol.asyncDispose]();
      }),
    );
  }

  #offer(
    workspace: Workspace,
    server: McpServer,
    calls: Pick<McpToolPorts, "user" | "background">,
    { definitions, leftOut }: McpListing,
  ): OfferedTools {
    const tools: Tool[] = [];
    const warnings = [...leftOut];
    const names = new Set<string>();
    // A name with dots never takes the place of one that is written so.
    for (const definition of definitions.toSorted((a, b) => dotsIn(a.tool) - dotsIn(b.tool))) {
      const name = mcpToolName(server.name, definition.tool);
      const fits = isUsableName(server.name, definition.tool) && !names.has(name.toLowerCase());
      if (!fits || JSON.stringify(definition.inputSchema).length > maxSchemaCharacters) {
        warnings.push(
          `A tool of the MCP server ${server.name} is left out: ${JSON.stringify(definition.tool.slice(0, 80))}.`,
        );
        continue;
      }
      names.add(name.toLowerCase());
      tools.push(
        createMcpTool(definition, {
          connection: async () => {
            const refused = managedRefusal(await this.#options.limits(), server);
            if (refused !== undefined) throw new McpError(refused);
            return this.#connection(workspace, server);
          },
          pins: this.#pinsOf(workspace.root),
          serverDigest: server.digest,
          workspace,
          home: this.#options.home,
          cwd: server.start.type === "program" ? server.start.cwd : undefined,
          trusted: server.allow.includes(definition.tool),
          readsOnly: server.readOnly.includes(definition.tool),
          ...calls,
        }),
      );
    }
    return { tools: onRequestIfMany(tools), warnings };
  }

  async #connection(workspace: Workspace, server: McpServer): Promise<McpConnection> {
    const workspaceRoot = workspace.root;
    const key = keyOf(workspaceRoot, server);
    const known = this.#connections.get(key);
    if (known !== undefined) {
      const connection = await known.opening.catch(() => undefined);
      if (connection !== undefined && !connection.closed && known.digest === server.digest) return connection;
      if (this.#connections.get(key) === known) this.#connections.delete(key);
      await connection?.[Symbol.asyncDispose]();
      return this.#connection(workspace, server);
    }
    const { commandEnvironment: environment, version } = this.#options;
    // The library takes a quarter of a second to load, so it is loaded only if used.
    const opening = import("./mcp-connection.ts").then(async ({ McpConnection }) => {
      // Start only what was accepted, also after the server ended in the middle of a turn.
      if ((await pinned(server, workspace)).digest !== server.digest)
        throw new McpError(unaccepted(server, "changed").text);
      return McpConnection.open(server, { workspaceRoot, environment, version, logins: this.#logins });
    });
    this.#connections.set(key, { digest: server.digest, opening });
    opening.catch(() => {
      if (this.#connections.get(key)?.opening === opening) this.#connections.delete(key);
    });
    return opening;
  }

  #pinsOf(workspaceRoot: string): McpPins {
    const known = this.#pins.get(workspaceRoot);
    if (known !== undefined) return known;
    const pins = new McpPins(this.#options.stateDir, workspaceRoot);
    this.#pins.set(workspaceRoot, pins);
    return pins;
  }
}

function dotsIn(tool: string): number {
  return tool.split(".").length;
}

function unaccepted({ name, origin, runs }: McpServer, state: "new" | "changed"): Warning {
  const what =
    state === "new"
      ? origin === "user"
        ? `runs ${Object.keys(runs).join(", ")} of this workspace and is not started`
        : `of ${origin === "editor" ? editorMcpFile : projectMcpFile} is not started`
      : "is not started: it changed since it was accepted, or what it runs did";
  return {
    text: `The MCP server ${name} ${what}. Look at what it would run before you accept it.`,
    code: "mcp_server_unaccepted",
    hint: `gennai mcp accept ${name}`,
  };
}

function keyOf(workspaceRoot: string, server: McpServer): string {
  return `${server.origin}/${server.name}\0${workspaceRoot}`;
}
