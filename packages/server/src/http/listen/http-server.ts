import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import type { TokenJudgement } from "../../identity/token-verifier.ts";
import { endConnection, sendError } from "../http-response.ts";
import { refuseBrokenRequests } from "../refuse-connection.ts";
import { type GuardPolicy, guardRequest, ownHosts } from "../request-guard.ts";
import type { PageGrants, RouteTable } from "../route.ts";
import { digestToken } from "../token.ts";
import { type ListenAddress, listenOn } from "./listen-address.ts";
import { type OpenServer, openPlainServer, openTlsServer } from "./node-servers.ts";
import type { TlsIdentity } from "./tls-files.ts";

export interface HttpServerOptions {
  readonly address: ListenAddress;
  /** undefined: the user chose `--no-auth`, or there are many users. */
  readonly token: string | undefined;
  /** On a server with several users, instead of one token: identifies the user of a token. */
  readonly judge?: (token: string) => Promise<TokenJudgement>;
  /** Encrypts, and offers HTTP/2 beside HTTP/1.1. */
  readonly tls?: TlsIdentity;
  /** A proxy in front of this server terminates TLS: pages are still opened with https. */
  readonly behindProxy?: boolean;
  /** Further values of Host this server answers to, e.g. `box.lan:7777`. */
  readonly allowedHosts?: readonly string[];
  /** Origins of pages that may use this server, e.g. `https://app.example`. */
  readonly allowedOrigins?: readonly string[];
  /** Tokens of the server's own pages. */
  readonly pages?: PageGrants;
  /** Called once, before listening. Streams must end when `shutdown` aborts; its reason is a `ConnectError` (unavailable). */
  readonly routes: (context: { readonly shutdown: AbortSignal }) => RouteTable;
  readonly timeouts?: Partial<HttpTimeouts>;
  /** Further ones are closed at once. Never more than 1,024. */
  readonly maxConnections?: number;
  /** Told the status of each request that was not let in. */
  readonly onRefused?: (status: number) => void;
  /** Told of each request that a route failed to answer, but for those whose peer is gone. */
  readonly onError: (error: unknown) => void;
  /** While true, every response closes its connection, so that clients go to another server. */
  readonly isLeaving?: () => boolean;
  /** How streams end when the server stops. */
  readonly shutdownError?: () => ConnectError;
}

/** Milliseconds. None of them limits how long an answer may stream. */
export interface HttpTimeouts {
  /** For the request line and headers. Default 10 s. */
  readonly headers: number;
  /** For the whole request, headers and body. Default 30 s. */
  readonly request: number;
  /** How long an idle connection is kept. Default 65 s. */
  readonly keepAlive: number;
  /** How long closing waits for answers under way. Default 2 s. */
  readonly shutdown: number;
}

export interface HttpListener extends AsyncDisposable {
  /** `http://127.0.0.1:7777`; `http://localhost` for a unix socket. */
  readonly url: string;
  /** undefined for a unix socket. */
  readonly port: number | undefined;
  /** Uses another certificate for connections from now on. Does nothing without encryption. */
  renewTls(tls: TlsIdentity): void;
}

const maxConnections = 1_024;
const DEFAULT_TIMEOUTS: HttpTimeouts = { headers: 10_000, request: 30_000, keepAlive: 65_000, shutdown: 2_000 };

/**
 * Opens the server's one door. Every request passes `guardRequest` before a route sees it. Rejects with `PortTakenError`.
 * Disposing stops accepting, aborts `shutdown`, waits a moment for answers under way and then cuts what is left.
 */
export async function listenHttp(options: HttpServerOptions): Promise<HttpListener> {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const shutdown = new AbortController();
  const routes = options.routes({ shutdown: shutdown.signal });
  const plain = options.tls === undefined ? openPlainServer(timeouts) : undefined;
  const encrypted = options.tls === undefined ? undefined : openTlsServer(timeouts, options.tls);
  const opened = plain ?? encrypted;
  if (opened === undefined) throw new TypeError("There is no server.");
  const { server } = opened;
  server.maxConnections = Math.min(options.maxConnections ?? maxConnections, maxConnections);
  refuseBrokenRequests(server);
  const spare = new SpareConnections(server);

  const bound = await listenOn(server, options.address);
  const tcp = bound.type === "tcp" ? bound : undefined;
  const pageScheme = encrypted !== undefined || options.behindProxy === true ? "https" : "http";
  const policy: GuardPolicy = {
    hosts: ownHosts(tcp, options.allowedHosts ?? [], encrypted === undefined ? "http" : "https"),
    scheme: pageScheme,
    origins: new Set(options.allowedOrigins),
    token: options.token === undefined ? undefined : digestToken(options.token),
    ...(options.judge === undefined ? {} : { judge: options.judge }),
    ...(options.pages === undefined ? {} : { pages: options.pages }),
    routes,
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    // A peer that disconnects while we write is no error of this process.
    response.on("error", () => undefined);
    if (shutdown.signal.aborted || options.isLeaving?.() === true) endConnection(response);
    void serve(request, response, policy, { onRefused: options.onRefused, onError: options.onError, spare });
  };
  server.on("request", answer);
  // Only a request that passed may be told to go on with its body.
  server.on("checkContinue", answer);

  return {
    url:
      tcp === undefined
        ? "http://localhost"
        : `${encrypted === undefined ? "http" : "https"}://${urlHost(tcp.host)}:${tcp.port}`,
    port: tcp?.port,
    renewTls: (tls) => encrypted?.renew(tls),
    async [Symbol.asyncDispose]() {
      await close(opened, shutdown, { waitMs: timeouts.shutdown, shutdownError: options.shutdownError }, spare);
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  policy: GuardPolicy,
  {
    onRefused,
    onError,
    spare,
  }: Pick<HttpServerOptions, "onRefused" | "onError"> & { readonly spare: SpareConnections },
): Promise<void> {
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Cache-Control", "no-store");
  const { method = "", url: target = "" } = request;
  const rawHeaders = headersOf(request);
  try {
    const result = await guardRequest({ method, target, rawHeaders }, policy);
    if (result.type === "refuse") {
      // After a malformed request, the rest of the connection cannot be parsed safely.
      if (result.error.status === 400) endConnection(response);
      onRefused?.(result.error.status);
      sendError(response, result.error);
      return;
    }
    spare.letIn(request);
    for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value);
    if (result.type === "preflight") {
      response.writeHead(204).end();
      return;
    }
    if (request.headers.expect !== undefined) response.writeContinue();
    result.page?.follow(response);
    await result.route.handle(request, response, { page: result.page, identity: result.identity });
  } catch (error) {
    if (!response.destroyed) onError(error);
    if (response.headersSent) response.destroy();
    else sendError(response, { status: 500, code: "internal", message: "the server failed to answer", headers: {} });
  }
}

/** HTTP/2 names the host apart from the headers: for all that follows it is the Host header. */
function headersOf(request: IncomingMessage): readonly string[] {
  const { rawHeaders } = request;
  if (request.httpVersionMajor < 2) return rawHeaders;
  const host = request.headers[":authority"];
  const headers = rawHeaders.filter((_, index) => !(rawHeaders[index - (index % 2)] ?? "").startsWith(":"));
  if (typeof host !== "string" || request.headers.host === host) return headers;
  request.headers.host ??= host;
  return ["Host", host, ...headers];
}

async function close(
  { server, closeIdle, closeAll }: OpenServer,
  shutdown: AbortController,
  { waitMs, shutdownError }: { readonly waitMs: number; readonly shutdownError: HttpServerOptions["shutdownError"] },
  spare: SpareConnections,
): Promise<void> {
  if (shutdown.signal.aborted) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  shutdown.abort(shutdownError?.() ?? new ConnectError("the server is shutting down", Code.Unavailable));
  spare.destroy();
  // Connections fall idle one by one as their answers end.
  const sweep = setInterval(closeIdle, 20);
  const cut = setTimeout(closeAll, waitMs);
  try {
    await closed;
  } finally {
    clearInterval(sweep);
    clearTimeout(cut);
  }
}

/** A wildcard is where it listens, not where it can be reached. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/**
 * Connections of which no request was let in yet: clients open some ahead, and node does not count them as idle. They take no more
 * than half of the server's places: the oldest makes way, so that nobody without a token keeps others out.
 */
class SpareConnections {
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    const add = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      const [oldest] = this.#sockets;
      if (this.#sockets.size > server.maxConnections / 2) oldest?.destroy();
    };
    // An encrypted connection is another socket once it is. HTTP/2 closes its own.
    server.on("setSecureContext" in server ? "secureConnection" : "connection", (socket: Socket) => {
      if (!("alpnProtocol" in socket) || socket.alpnProtocol !== "h2") add(socket);
    });
  }

  letIn({ socket }: IncomingMessage): void {
    this.#sockets.delete(socket);
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
