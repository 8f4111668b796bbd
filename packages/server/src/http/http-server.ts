import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { sendError } from "./http-response.ts";
import { type ListenAddress, listenOn } from "./listen-address.ts";
import type { PageGrants } from "./page-grant.ts";
import { refuseBrokenRequests } from "./refuse-connection.ts";
import { type GuardPolicy, guardRequest, ownHosts } from "./request-guard.ts";
import type { RouteTable } from "./route.ts";
import { SpareConnections } from "./spare-connections.ts";
import { digestToken } from "./token.ts";

export interface HttpServerOptions {
  readonly address: ListenAddress;
  /** undefined: the user chose `--no-auth`. */
  readonly token: string | undefined;
  /** Further values of Host this server answers to, e.g. `box.lan:7777`. */
  readonly allowedHosts?: readonly string[];
  /** Origins of pages that may use this server, e.g. `https://app.example`. */
  readonly allowedOrigins?: readonly string[];
  /** Tokens of the server's own pages. */
  readonly pages?: PageGrants;
  /** Called once, before listening. Streams must end when `shutdown` aborts; its reason is a `ConnectError` (unavailable). */
  readonly routes: (context: { readonly shutdown: AbortSignal }) => RouteTable;
  readonly timeouts?: Partial<HttpTimeouts>;
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
}

const DEFAULT_TIMEOUTS: HttpTimeouts = { headers: 10_000, request: 30_000, keepAlive: 65_000, shutdown: 2_000 };
const MAX_CONNECTIONS = 1024;

/**
 * Opens the server's one door. Every request passes `guardRequest` before a route sees it. Rejects with `PortTakenError`.
 * Disposing stops accepting, aborts `shutdown`, waits a moment for answers under way and then cuts what is left.
 */
export async function listenHttp(options: HttpServerOptions): Promise<HttpListener> {
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const shutdown = new AbortController();
  const routes = options.routes({ shutdown: shutdown.signal });
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requireHostHeader: false, // The guard asks for it, also in HTTP/1.0.
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headers),
    keepAliveTimeout: timeouts.keepAlive,
    keepAlive: true,
    noDelay: true,
  });
  server.maxConnections = MAX_CONNECTIONS;
  refuseBrokenRequests(server);
  const spare = new SpareConnections(server);

  const bound = await listenOn(server, options.address);
  const policy: GuardPolicy = {
    hosts: ownHosts(bound.type === "tcp" ? bound : undefined, options.allowedHosts ?? []),
    origins: new Set(options.allowedOrigins),
    token: options.token === undefined ? undefined : digestToken(options.token),
    ...(options.pages === undefined ? {} : { pages: options.pages }),
    routes,
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    // A peer that goes away while we write is no event for this process.
    response.on("error", () => undefined);
    if (shutdown.signal.aborted) response.setHeader("Connection", "close");
    void serve(request, response, policy);
  };
  server.on("request", answer);
  // Only a request that passed may be told to go on with its body.
  server.on("checkContinue", answer);

  return {
    url: bound.type === "tcp" ? `http://${urlHost(bound.host)}:${bound.port}` : "http://localhost",
    port: bound.type === "tcp" ? bound.port : undefined,
    async [Symbol.asyncDispose]() {
      await close(server, shutdown, timeouts.shutdown, spare);
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, policy: GuardPolicy): Promise<void> {
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Cache-Control", "no-store");
  const { method = "", url: target = "", rawHeaders } = request;
  const result = guardRequest({ method, target, rawHeaders }, policy);
  if (result.type === "refuse") {
    // What follows a malformed request on this connection cannot be trusted to be a request.
    if (result.error.status === 400) response.setHeader("Connection", "close");
    sendError(response, result.error);
    return;
  }
  for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value);
  if (result.type === "preflight") {
    response.writeHead(204).end();
    return;
  }
  try {
    if (request.headers.expect !== undefined) response.writeContinue();
    result.page?.follow(response);
    await result.route.handle(request, response, { page: result.page });
  } catch {
    if (response.headersSent) response.destroy();
    else sendError(response, { status: 500, code: "internal", message: "the server failed to answer", headers: {} });
  }
}

async function close(
  server: Server,
  shutdown: AbortController,
  waitMs: number,
  spare: SpareConnections,
): Promise<void> {
  if (shutdown.signal.aborted) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  shutdown.abort(new ConnectError("the server is shutting down", Code.Unavailable));
  spare.destroy();
  // Connections fall idle one by one as their answers end.
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), waitMs);
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
