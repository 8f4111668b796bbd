import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ServiceError, type ServiceErrorCode } from "@gennai/machine/service-error";
import { sendJson } from "@gennai/server/http/http-response";
import { type HttpListener } from "@gennai/server/http/listen/http-server";
import { listenOn } from "@gennai/server/http/listen/listen-address";
import { refuseBrokenRequests } from "@gennai/server/http/refuse-connection";
import { type GuardPolicy, guardRequest, ownHosts } from "@gennai/server/http/request-guard";
import type { Route, RouteTable } from "@gennai/server/http/route";
import { judgePeer, linuxPeerPorts, type PeerVerdict } from "./peer.ts";
import { readBody } from "./read-body.ts";

/** A result with its own status, e.g. a failed run: no success, but with a result. */
export interface RinaAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Answers one path. Gets the body's text; `signal` aborts when the client has gone. Throws `ServiceError` to refuse. */
export type RinaHandler = (body: string, options: { readonly signal: AbortSignal }) => Promise<RinaAnswer>;

export interface RinaListenerOptions {
  /** On the loopback; 0 takes any free one. */
  readonly port: number;
  readonly handlers: ReadonlyMap<string, RinaHandler>;
  /** Checks the peer. Default: on Linux by the kernel's table; elsewhere everyone passes, because no information is available. */
  readonly judge?: (socket: IncomingMessage["socket"]) => PeerVerdict;
  /** Gets unexpected errors in full. */
  readonly report: (error: unknown) => void;
}

const loopback = "127.0.0.1";
const maxConnections = 64;

/**
 * The second listener, for clients without a credential: 127.0.0.1 only, POST and JSON only, no browsers, no foreign processes.
 * Every refusal is `{"ok":false,"error"}` with an error status. Rejects with `PortTakenError`.
 */
export async function listenRina(options: RinaListenerOptions): Promise<Omit<HttpListener, "renewTls">> {
  const judge = options.judge ?? judgeSocket;
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    requireHostHeader: false,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: 5_000,
  });
  server.maxConnections = maxConnections;
  refuseBrokenRequests(server);
  const bound = await listenOn(server, { type: "tcp", host: loopback, port: options.port });
  const port = bound.type === "tcp" ? bound.port : options.port;
  const policy: GuardPolicy = {
    hosts: ownHosts({ host: loopback, port }, []),
    origins: new Set(),
    token: undefined,
    routes: routesOf(options),
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    response.on("error", () => undefined);
    serve(request, response, { policy, judge }).catch((error: unknown) => {
      options.report(error);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, "The server failed unexpectedly; its log says why.");
    });
  };
  server.on("request", answer);
  server.on("checkContinue", answer);
  return { url: `http://${loopback}:${port}`, port, [Symbol.asyncDispose]: () => close(server) };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { policy, judge }: { readonly policy: GuardPolicy; readonly judge: NonNullable<RinaListenerOptions["judge"]> },
): Promise<void> {
  response.setHeader("X-Content-Type-Options", "nosniff");
  response.setHeader("Cache-Control", "no-store");
  const { method = "", url: target = "", rawHeaders, headers } = request;
  // Only browsers send these, and no page may call this, not even one from this machine.
  if (headers.origin !== undefined || headers["sec-fetch-site"] !== undefined) {
    refuse(response, 403, "Requests of web pages are refused here.");
    return;
  }
  const guarded = await guardRequest({ method, target, rawHeaders }, policy);
  if (guarded.type === "refuse") {
    for (const [name, value] of Object.entries(guarded.error.headers)) response.setHeader(name, value);
    refuse(response, guarded.error.status, guarded.error.message);
    return;
  }
  if (guarded.type === "preflight") {
    refuse(response, 403, "Requests of web pages are refused here.");
    return;
  }
  const peer = judge(request.socket);
  if (peer.type === "refused") {
    refuse(response, 403, `Refused: ${peer.reason}.`);
    return;
  }
  if (headers.expect !== undefined) response.writeContinue();
  await guarded.route.handle(request, response, { page: undefined, identity: guarded.identity });
}

function routesOf({ handlers }: RinaListenerOptions): RouteTable {
  const route = (handler: RinaHandler): Route => ({
    method: "POST",
    mediaTypes: new Set(["application/json"]),
    authentication: "none",
    handle: async (request, response) => {
      const gone = new AbortController();
      response.once("close", () => gone.abort(new DOMException("The client went away.", "AbortError")));
      try {
        const { status, body } = await handler(await readBody(request), { signal: gone.signal });
        if (status >= 400 && readsNoRefusals(request)) throwAtReader(response, body);
        else sendJson(response, status, body);
      } catch (error) {
        if (gone.signal.aborted && !request.complete) return;
        if (!(error instanceof ServiceError)) throw error;
        const tooLarge = error.code === "resource_exhausted" && !request.complete;
        if (!tooLarge && readsNoRefusals(request)) throwAtReader(response, { ok: false, error: sentence(error) });
        else refuse(response, tooLarge ? 413 : statuses[error.code], sentence(error));
      }
    },
  });
  return new Map([...handlers].map(([path, handler]) => [path, route(handler)]));
}

function sentence({ message, hint }: ServiceError): string {
  return hint === undefined ? message : `${message} ${hint}`;
}

/** HTTP status of a refusal for a client of the older protocol: never a success. */
const statuses: Readonly<Record<ServiceErrorCode, number>> = {
  invalid_argument: 400,
  permission_denied: 403,
  unauthenticated: 401,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 409,
  resource_exhausted: 429,
  unavailable: 503,
};

/**
 * The published RinaWarp extension treats every JSON answer as a success, regardless of status and `ok`: after a refusal it
 * shows "approved", and then "not approved". But it shows errors thrown by its HTTP library in full.
 */
function readsNoRefusals({ headers }: IncomingMessage): boolean {
  return headers["user-agent"]?.startsWith("node-fetch") === true;
}

/** That library throws for a redirect to an invalid URL, and its error contains that text. */
function throwAtReader(response: ServerResponse, body: Readonly<Record<string, unknown>>): void {
  const text = String(body["error"])
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .slice(0, 1_000);
  response.setHeader("Location", `http://[ ${text} ]`);
  response.setHeader("Connection", "close");
  sendJson(response, 303, body);
}

/** The body may still be on its way: what follows on this connection cannot be trusted to be a request. */
function refuse(response: ServerResponse, status: number, error: string): void {
  response.setHeader("Connection", "close");
  sendJson(response, status, { ok: false, error });
}

function judgeSocket(socket: IncomingMessage["socket"]): PeerVerdict {
  if (process.platform !== "linux" || process.getuid === undefined) return { type: "trusted" };
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  if (
    localAddress === undefined ||
    localPort === undefined ||
    remoteAddress === undefined ||
    remotePort === undefined
  ) {
    return { type: "refused", reason: "it is not known whose connection this is" };
  }
  const ends = { localAddress, localPort, remoteAddress, remotePort };
  return judgePeer(ends, process.getuid(), linuxPeerPorts());
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), 2_000);
  try {
    await closed;
  } finally {
    clearTimeout(cut);
  }
}
