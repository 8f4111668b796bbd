import { resolve } from "node:path";
import { plainText } from "@gennai/machine/process/plain-text";
import { errorMessage } from "@gennai/protocol/error-message";
import {
  type AuthProvider,
  Client,
  type ConnectOptions,
  type ElicitRequest,
  type ElicitResult,
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import * as z from "zod";
import type { UserAsker } from "../bridge/session-bridge.ts";
import { CallPatience } from "./call-patience.ts";
import type { McpServer } from "./mcp-config.ts";
import { type McpContent, readMcpContent, withLinked } from "./mcp-content.ts";
import { type McpDefinition, readDefinition } from "./mcp-definition.ts";
import { McpError, McpSessionForgotten } from "./mcp-error.ts";
import { loginNeeded, moreNeeded, renewedLogin } from "./mcp-login.ts";
import { loginPlace, type McpLogins } from "./mcp-logins.ts";
import { type AskedByServer, askForServer } from "./mcp-question.ts";
import { callAsTask, followTask, showTask, taskIn, tasksExtension } from "./mcp-task.ts";
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

export interface McpCallOptions {
  readonly signal: AbortSignal;
  /** Whom the server may ask something in the course of the call. */
  readonly user: UserAsker;
  /** Takes what the server says of its progress. */
  onOutput(text: string): void;
  /** Takes what the server asked the user, once that has ended. */
  onAsked(asked: AskedByServer): void;
  /** The server made a task of it. */
  onTask?(): void;
}

interface RunningCall {
  readonly options: McpCallOptions;
  readonly patience: CallPatience;
  taskId: string | undefined;
}

export interface McpConnectionOptions {
  readonly workspaceRoot: string;
  /** Environment of server programs, besides what their definition adds. */
  readonly environment: Readonly<Record<string, string>>;
  readonly version: string;
  readonly logins: McpLogins;
}

/** Milliseconds. */
const connectTimeout = 30_000;
/** A program that is silent for so long when it is asked what only the newest revision knows is taken for an older one. */
const probeTimeout = 3_000;
const callTimeout = 300_000;
/** Of the library, which would count the time in which a person is asked. */
const noTimeout = 24 * 60 * 60 * 1000;
/** A server with a model at hand could have it say anything, at the user's cost. */
const whyNot = "its user pays for the model, and decides what it is asked.";
/** Maximum tools offered by one server. */
const maxTools = 200;
const maxPages = 20;
/** Maximum characters of an error passed on. */
const maxReason = 2_000;

/** A list, without what the library demands of each tool: one that it refuses would take its server away. */
const listAnswer = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

/** Of a server whose tools run as tasks (2025-11-25). */
const runsCalls = z.looseObject({ requests: z.looseObject({ tools: z.looseObject({ call: z.looseObject({}) }) }) });

/**
 * One running MCP server, of the revision 2026-07-28 or one before it: it is asked for the former first. It may ask the user
 * in the course of a call; we offer it no model and no directories.
 */
export class McpConnection implements AsyncDisposable {
  readonly server: McpServer;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #running = new Set<RunningCall>();
  #listing: Promise<McpListing> | undefined;
  #hearsOfChanges: Promise<void> | undefined;
  #closed = false;

  /** @param probe milliseconds for an answer to what only the newest revision knows */
  private constructor(server: McpServer, options: OpenOptions, probe: number) {
    this.server = server;
    this.#transport = transportTo(server, options);
    this.#client = new Client(
      { name: "gennai", version: options.version },
      {
        capabilities: { elicitation: { form: {}, url: {} }, extensions: tasksExtension },
        versionNegotiation: { mode: "auto", probe: { timeoutMs: probe } },
      },
    );
    this.#client.onclose = () => {
      this.#closed = true;
    };
    this.#transport.onmessage = showTask;
    this.#client.setRequestHandler("elicitation/create", ({ params }) => this.#elicited(params));
    this.#client.fallbackRequestHandler = async ({ method }) => {
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Gennai does no ${method} for MCP servers: ${whyNot}`);
    };
    this.#client.setNotificationHandler("notifications/tools/list_changed", () => {
      this.#listing = undefined;
    });
  }

  /** Rejects with `McpError`. */
  static async open(server: McpServer, given: McpConnectionOptions): Promise<McpConnection> {
    const options = { ...given, login: await loginAt(server, given.logins) };
    const isProgram = server.start.type === "program";
    const first = new McpConnection(server, options, isProgram ? probeTimeout : connectTimeout);
    let again: ConnectOptions;
    try {
      return await first.#connect();
    } catch (error) {
      const code = isProgram && (error instanceof SdkError || error instanceof ProtocolError) ? error.code : undefined;
      // Some programs of older revisions end when they are asked what they do not know.
      if (code === SdkErrorCode.EraNegotiationFailed) again = { prior: { kind: "legacy" } };
      // It was only slow, and knows no older revision.
      else if (code === ProtocolErrorCode.UnsupportedProtocolVersion) again = {};
      else throw first.#failure("could not be started", error);
    }
    const second = new McpConnection(server, options, connectTimeout);
    try {
      return await second.#connect(again);
    } catch (error) {
      throw second.#failure("could not be started", error);
    }
  }

  async #connect(options?: ConnectOptions): Promise<this> {
    try {
      await this.#client.connect(this.#transport, { timeout: connectTimeout, ...options });
      return this;
    } catch (error) {
      await this[Symbol.asyncDispose]();
      throw error;
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
    { tool, inputSchema, asTask }: McpDefinition,
    args: Readonly<Record<string, unknown>>,
    options: McpCallOptions,
  ): Promise<McpResult> {
    const { signal, onOutput } = options;
    signal.throwIfAborted();
    using patience = new CallPatience(callTimeout);
    const running: RunningCall = { options, patience, taskId: undefined };
    this.#running.add(running);
    const ending = AbortSignal.any([signal, patience.signal]);
    const params = { name: tool, arguments: { ...args } };
    const tell = (words: string): void => {
      patience.heard();
      onOutput(plainText(words.trim().slice(0, maxReason)).concat("\n"));
    };
    try {
      const short = { signal: ending, timeout: callTimeout };
      const first: Record<string, unknown> = asTask
        ? await callAsTask(this.#client, params, short)
        : await this.#client.callTool(params, {
            signal: ending,
            timeout: noTimeout,
            onprogress: ({ message = "", progress, total }) => {
              tell(`${total === undefined ? progress : `${progress} of ${total}`} ${message}`);
            },
            // By this the library sends the headers that a schema names. Without what it promises of its result nothing that ran is lost.
            toolDefinition: { name: tool, inputSchema: { ...inputSchema, type: "object" } },
          });
      const task = taskIn(first);
      running.taskId = task?.taskId;
      if (task !== undefined) options.onTask?.();
      const elicit = (asked: ElicitRequest["params"]) => this.#askFor(running, asked);
      const result = task ? await followTask(this.#client, task, { ...short, onState: tell, elicit }) : first;
      const content = readMcpContent(await withLinked(result, (uri) => this.#read(uri, ending)));
      return { ...content, isError: result["isError"] === true };
    } catch (error) {
      signal.throwIfAborted();
      throw this.#failure(`did not answer the call of ${tool}`, error);
    } finally {
      this.#running.delete(running);
    }
  }

  async #read(uri: string, signal: AbortSignal): Promise<readonly unknown[]> {
    if (this.#client.getServerCapabilities()?.resources === undefined) return [];
    return (await this.#client.readResource({ uri }, { signal, timeout: connectTimeout, cacheMode: "refresh" }))
      .contents;
  }

  /** Asks the user of the task that is named, or of the one call under way. Of several, nobody could say whose it is about. */
  async #elicited(params: ElicitRequest["params"]): Promise<ElicitResult> {
    const taskId = params._meta?.[RELATED_TASK_META_KEY]?.taskId;
    const [call, ...others] = [...this.#running].filter((one) => one.taskId === taskId);
    return call === undefined || others.length > 0 ? { action: "cancel" } : this.#askFor(call, params);
  }

  async #askFor({ options, patience }: RunningCall, params: ElicitRequest["params"]): Promise<ElicitResult> {
    const { signal, user } = options;
    const one = await patience.whileAsked(askForServer(this.server, params, user, { signal }));
    options.onAsked(one);
    if (one.refusal !== undefined) options.onOutput(`${one.refusal}\n`);
    return one.result;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#client.close().catch(() => undefined);
    await this.#transport.close().catch(() => undefined);
  }

  async #list(): Promise<McpListing> {
    await this.#hearOfChanges();
    const definitions: McpDefinition[] = [];
    const isModern = this.#client.getProtocolEra() === "modern";
    const tasks: unknown = this.#client.getServerCapabilities()?.["tasks"];
    const peer = {
      hasTasks: !isModern && runsCalls.safeParse(tasks).success,
      sendsHeaders: isModern && this.server.start.type === "http",
    };
    const leftOut: string[] = [];
    let listed = 0;
    let cursor: string | undefined;
    for (let page = 0; page < maxPages && listed <= maxTools; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const { tools, nextCursor } = await this.#client.request({ method: "tools/list", params }, listAnswer);
      for (const one of tools.slice(0, Math.max(0, maxTools - listed))) {
        const read = readDefinition(this.server.name, one, peer);
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

  /** Since 2026-07-28 a server tells of changes only in a stream that was asked for. */
  async #hearOfChanges(): Promise<void> {
    if (this.#client.getProtocolEra() !== "modern") return;
    if (this.#client.getServerCapabilities()?.tools?.listChanged !== true) return;
    this.#hearsOfChanges ??= this.#client.listen({ toolsListChanged: true }).then(({ closed }) => {
      void closed.then(() => {
        this.#hearsOfChanges = undefined;
        this.#listing = undefined;
      });
    });
    await this.#hearsOfChanges;
  }

  #failure(what: string, error: unknown): McpError {
    const { name } = this.server;
    if (error instanceof McpError) return error;
    if (error instanceof InsufficientScopeError)
      return new McpError(moreNeeded(name, error.requiredScope), { cause: error });
    if (error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401))
      return new McpError(loginNeeded(name), { cause: error });
    // Both texts come from the server and are shown in terminals.
    const said = this.#transport instanceof ProgramTransport ? plainText(this.#transport.stderr).trim() : "";
    const status = error instanceof SdkHttpError ? `HTTP ${error.status}: ` : "";
    const reason = `${status}${plainText(errorMessage(error)).slice(0, maxReason)}`;
    const words = said === "" ? reason : `${reason}. It said: ${said.slice(-500)}`;
    const message = `The MCP server ${this.server.name} ${what}: ${words}`;
    const isForgotten = status === "HTTP 404: " && this.#transport.sessionId !== undefined;
    if (!isForgotten) return new McpError(message, { cause: error });
    this.#closed = true;
    return new McpSessionForgotten(message, { cause: error });
  }
}

interface OpenOptions extends McpConnectionOptions {
  readonly login: AuthProvider | undefined;
}

/** Only where a person logged in: a turn registers nowhere, and asks nobody to log in. */
async function loginAt({ name, start }: McpServer, logins: McpLogins): Promise<AuthProvider | undefined> {
  if (start.type !== "http") return undefined;
  const place = loginPlace(name, start);
  return (await logins.find(place))?.tokens === undefined ? undefined : renewedLogin(logins, place);
}

function transportTo({ start }: McpServer, { workspaceRoot, environment, login }: OpenOptions): Transport {
  switch (start.type) {
    case "program":
      return new ProgramTransport({
        command: start.command,
        args: start.args,
        environment: { ...environment, ...start.environment },
        cwd: resolve(workspaceRoot, start.cwd ?? "."),
      });
    case "http":
      return new StreamableHTTPClientTransport(new URL(start.url), {
        requestInit: { headers: { ...start.headers } },
        onInsufficientScope: "throw",
        ...(login === undefined ? {} : { authProvider: login }),
      });
  }
}
