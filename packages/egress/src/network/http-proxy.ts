import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Endpoint, endpointOf, parseEndpoint } from "@gennai/governance/endpoint";
import { type ConnectionFilter, joinSockets, type ReachedOutside } from "./connection-filter.ts";
import type { LoginGateway } from "./login-gateway.ts";

/** The endpoint of a `CONNECT`; undefined if the target is not a host and port. */
export function tunnelTarget(target: string): Endpoint | undefined {
  return parseEndpoint(target);
}

export interface RequestTarget {
  readonly endpoint: Endpoint;
  readonly path: string;
}

/** The endpoint of a request in absolute form; undefined for another scheme, and for an address with a user. */
export function requestTarget(target: string): RequestTarget | undefined {
  if (!/^http:\/\//i.test(target) || !URL.canParse(target)) return undefined;
  const { hostname, port, pathname, search, username, password } = new URL(target);
  // The URL parser has normalised addresses, however they were written.
  const endpoint = endpointOf(hostname, port === "" ? 80 : Number(port));
  if (endpoint === undefined || username !== "" || password !== "") return undefined;
  return { endpoint, path: `${pathname}${search}` };
}

/** Headers that hold only for one connection, not for the request (RFC 9110, 7.6.1). */
const hopByHop = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** The gateway for an endpoint that this process asks with a login that the run does not see. */
export type GatewayTo = (endpoint: Endpoint) => LoginGateway | undefined;

/** A proxy for programs that use `HTTP_PROXY` and `HTTPS_PROXY`. It does not listen by itself. */
export function httpProxy(filter: ConnectionFilter, gatewayTo: GatewayTo = () => undefined): Server {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, response) => {
    const target = requestTarget(incoming.url ?? "");
    const gateway = target === undefined ? undefined : gatewayTo(target.endpoint);
    // Only for a registry without TLS: otherwise the program would not notice that another party answers.
    if (target !== undefined && gateway?.login.isTls === false) gateway.answer(incoming, response, target.path);
    else if (gateway !== undefined) incoming.socket.destroy();
    else forward(incoming, response, filter).catch(() => incoming.socket.destroy());
  });
  server.on("connect", (incoming: IncomingMessage, inside: Socket, head: Buffer) => {
    const wanted = tunnelTarget(incoming.url ?? "");
    const gateway = wanted === undefined ? undefined : gatewayTo(wanted);
    if (gateway === undefined) tunnel(incoming, inside, head, filter).catch(() => inside.destroy());
    else {
      opened(inside, head);
      gateway.serve(inside);
    }
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  return server;
}

async function tunnel(
  incoming: IncomingMessage,
  inside: Socket,
  head: Buffer,
  filter: ConnectionFilter,
): Promise<void> {
  inside.on("error", () => inside.destroy());
  const wanted = tunnelTarget(incoming.url ?? "");
  const reached = wanted === undefined ? undefined : await filter.reach(wanted);
  if (reached === undefined) {
    inside.end(`HTTP/1.1 403 Forbidden by Gennai\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    // A peer that never closes would keep the connection open.
    inside.destroySoon();
    return;
  }
  opened(inside, head);
  joinSockets(inside, reached);
}

function opened(inside: Socket, head: Buffer): void {
  inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (head.length > 0) inside.unshift(head);
}

/** Forwards a request. A refused one gets no answer, which a program could take for the page that it wanted. */
async function forward(incoming: IncomingMessage, response: ServerResponse, filter: ConnectionFilter): Promise<void> {
  const target = requestTarget(incoming.url ?? "");
  const reached = target === undefined ? undefined : await filter.reach(target.endpoint);
  if (target === undefined || reached === undefined) {
    incoming.socket.resetAndDestroy();
    return;
  }
  try {
    ask(reached, target, { incoming, response });
  } catch (error) {
    reached.socket.destroy();
    throw error;
  }
}

/** Forwards the request, and returns its answer. Parts of both may throw, here and in each event. */
function ask(
  { socket, add }: ReachedOutside,
  target: RequestTarget,
  { incoming, response }: { readonly incoming: IncomingMessage; readonly response: ServerResponse },
): void {
  const giveUp = (): void => {
    socket.destroy();
    incoming.socket.destroy();
  };
  if (incoming.socket.destroyed) return giveUp();
  const { host, port } = target.endpoint;
  const headers: string[] = [];
  for (let at = 0; at + 1 < incoming.rawHeaders.length; at += 2) {
    const [name = "", value = ""] = incoming.rawHeaders.slice(at, at + 2);
    // The `Host` header must name the host that was checked.
    if (!hopByHop.test(name) && name.toLowerCase() !== "host") headers.push(name, value);
  }
  const literal = host.includes(":") ? `[${host}]` : host;
  headers.push("Host", port === 80 ? literal : `${literal}:${port}`, "Connection", "close");
  const outgoing = request({
    method: incoming.method,
    path: target.path,
    headers,
    setDefaultHeaders: false,
    createConnection: () => socket,
  });
  let [sent, received] = [0, 0];
  // Counts during the transfer too: a command may end and be reported before its connections end.
  const count = (): void => {
    add(socket.bytesWritten - sent, socket.bytesRead - received);
    [sent, received] = [socket.bytesWritten, socket.bytesRead];
  };
  outgoing.on("finish", count);
  socket.once("close", count);
  for (const stream of [incoming, response, outgoing]) stream.on("error", giveUp);
  response.on("close", () => outgoing.destroy());
  // A switch to another protocol is not an answer.
  outgoing.on("close", () => response.headersSent || giveUp());
  outgoing.on("response", (answer) => {
    answer.on("error", giveUp);
    answer.on("data", count);
    const raw: string[] = [];
    for (let at = 0; at + 1 < answer.rawHeaders.length; at += 2) {
      const [name = "", value = ""] = answer.rawHeaders.slice(at, at + 2);
      if (!hopByHop.test(name)) raw.push(name, value);
    }
    try {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, raw);
      answer.pipe(response);
    } catch {
      // The parser accepts more in a status line than can be written.
      giveUp();
    }
  });
  incoming.pipe(outgoing);
  // After the pipe, so that bytes just read are written by now.
  incoming.on("data", count);
}
