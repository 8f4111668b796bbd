import { resolve } from "node:path";
import { plainText } from "@gennai/machine/process/plain-text";
import { errorMessage } from "@gennai/protocol/error-message";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import type { McpServer } from "./mcp-config.ts";
import { type McpContent, readMcpContent } from "./mcp-content.ts";
import { type McpDefinition, readDefinition } from "./mcp-definition.ts";
import { McpError, McpSessionForgotten } from "./mcp-error.ts";
import { ProgramTransport } from "./program-transport.ts";

/** What a server offers. */
export interface McpListing {
  readonly definitions: readonly McpDefinition[];
  /** Which tools are left out, as messages for the user. */
  readonly leftOut: readonly string[];
}

export interface McpResult extends McpContent {
  readonly isError: boolean;
}

export interface McpConnectionOptions {
  readonly workspaceRoot: string;
  /** Environment of server programs, besides what their definition adds. */
  readonly environment: Readonly<Record<string, string>>;
  readonly version: string;
}

/** Milliseconds. */
const connectTimeout = 30_000;
const callTimeout = 300_000;
/** Maximum tools offered by one server. */
const maxTools = 200;
const maxPages = 20;
/** Maximum characters of an error passed on. */
const maxReason = 2_000;

/** Answers, without what the library demands of each tool and each result: what it refuses would be lost as a whole. */
const listAnswer = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });
const callAnswer = z.looseObject({ isError: z.unknown().optional() });

/** One running MCP server. We offer it no sampling, no questions to the user, no directories. */
export class McpConnection implements AsyncDisposable {
  readonly server: McpServer;
  readonly #client: Client;
  readonly #transport: Transport;
  #listing: Promise<McpListing> | undefined;
  #closed = false;

  private constructor(server: McpServer, client: Client, transport: Transport) {
    this.server = server;
    this.#client = client;
    this.#transport = transport;
    client.onclose = () => {
      this.#closed = true;
    };
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#listing = undefined;
    });
  }

  /** Rejects with `McpError`. */
  static async open(server: McpServer, options: McpConnectionOptions): Promise<McpConnection> {
    const transport = transportTo(server, options);
    const client = new Client({ name: "gennai", version: options.version }, { capabilities: {} });
    const connection = new McpConnection(server, client, transport);
    try {
      await client.connect(transport, { timeout: connectTimeout });
      return connection;
    } catch (error) {
      await connection[Symbol.asyncDispose]();
      throw connection.#failure("could not be started", error);
    }
  }

  /** True if the server is gone: a new connection is needed. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Its current tools. Rejects with `McpError`. */
  listing(): Promise<McpListing> {
    this.#listing ??= this.#list().catch((error: unknown) => {
      this.#listing = undefined;
      throw this.#failure("did not list its tools", error);
    });
    return this.#listing;
  }

  /** Rejects with `McpError`, or the signal's reason. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<McpResult> {
    signal.throwIfAborted();
    try {
      const params = { name: tool, arguments: { ...args } };
      const options = { signal, timeout: callTimeout, resetTimeoutOnProgress: true };
      const result = await this.#client.request({ method: "tools/call", params }, callAnswer, options);
      return { ...readMcpContent(result), isError: result.isError === true };
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(`did not answer the call of ${tool}`, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#client.close().catch(() => undefined);
    await this.#transport.close().catch(() => undefined);
  }

  async #list(): Promise<McpListing> {
    const definitions: McpDefinition[] = [];
    const leftOut: string[] = [];
    let listed = 0;
    let cursor: string | undefined;
    for (let page = 0; page < maxPages && listed <= maxTools; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await this.#client.request({ method: "tools/list", params }, listAnswer);
      for (const one of tools.slice(0, Math.max(0, maxTools - listed))) {
        const read = readDefinition(this.server.name, one);
        if (typeof read === "string")
          leftOut.push(`A tool of the MCP server ${this.server.name} is left out: ${read}.`);
        else definitions.push(read);
      }
      listed += tools.length;
      cursor = nextCursor ?? undefined;
      if (cursor === undefined) break;
    }
    if (listed > maxTools || cursor !== undefined)
      leftOut.push(
        `The MCP server ${this.server.name} lists more than ${maxTools} tools or ${maxPages} pages. The rest is left out.`,
      );
    return { definitions, leftOut };
  }

  #failure(what: string, error: unknown): McpError {
    // Both texts come from the server and are shown in terminals.
    const said = this.#transport instanceof ProgramTransport ? plainText(this.#transport.errors).trim() : "";
    const status = error instanceof StreamableHTTPError ? `HTTP ${error.code}: ` : "";
    const reason = `${status}${plainText(errorMessage(error)).slice(0, maxReason)}`;
    const words = said === "" ? reason : `${reason}. It said: ${said.slice(-500)}`;
    const message = `The MCP server ${this.server.name} ${what}: ${words}`;
    const isForgotten = status === "HTTP 404: " && this.#transport.sessionId !== undefined;
    if (!isForgotten) return new McpError(message, { cause: error });
    this.#closed = true;
    return new McpSessionForgotten(message, { cause: error });
  }
}

function transportTo({ start }: McpServer, { workspaceRoot, environment }: McpConnectionOptions): Transport {
  switch (start.type) {
    case "program":
      return new ProgramTransport({
        command: start.command,
        args: start.args,
        environment: { ...environment, ...start.environment },
        cwd: resolve(workspaceRoot, start.cwd ?? "."),
      });
    case "http":
      // The library's class declares its session id in a way that exact optional types refuse.
      return new StreamableHTTPClientTransport(new URL(start.url), { requestInit: { headers: { ...start.headers } } });
  }
}
