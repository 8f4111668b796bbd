import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type Endpoint, endpointOf, parseEndpoint } from "@gennai/governance/network/endpoint";
import { type ConnectionFilter, joinSockets, type ReachedOutside } from "./connection-filter.ts";
import type { LoginGateway } from "./login-gateway.ts";

/** Where the target of a `CONNECT` leads; undefined for what is not a host and port. */
export function tunnelTarget(target: string): Endpoint | undefined {
  return parseEndpoint(target);
}

export interface RequestTarget {
  readonly endpoint: Endpoint;
  readonly path: string;
}

/** Where a request in absolute form leads; undefined for another scheme, and for one with a user in it. */
export function requestTarget(target: string): RequestTarget | undefined {
  if (!/^http:\/\//i.test(target) || !URL.canParse(target)) return undefined;
  const { hostname, port, pathname, search, username, password } = new URL(target);
  // Addresses are in the URL parser's normal form, however they were written.
  const endpoint = endpointOf(hostname, port === "" ? 80 : Number(port));
  if (endpoint === undefined || username !== "" || password !== "") return undefined;
  return { endpoint, path: `${pathname}${search}` };
}

/** Of one hop, not of the request (RFC 9110, 7.6.1). */
const hopByHop = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** Which endpoints this process asks with a login that the run does not see. */
export type GatewayTo = (endpoint: Endpoint) => LoginGateway | undefined;

/** A proxy for what programs with `HTTP_PROXY` and `HTTPS_PROXY` send. It listens nowhere by itself. */
export function httpProxy(filter: ConnectionFilter, gatewayTo: GatewayTo = () => undefined): Server {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, response) => {
    const target = requestTarget(incoming.url ?? "");
    const gateway = target === undefined ? undefined : gatewayTo(target.endpoint);
    // Without TLS there, the program would not see that it speaks with another than it meant.
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
    // Who never hangs up would keep it.
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

/** A refusal is not an answer: a program must not take it for the page that it wanted. */
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

/** Sends the request on, and its answer back. The parts of both may throw here, and in each event. */
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
    // The host that was looked at is the host that is asked.
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
  // Also while it runs: a command may end, and be told of, before its connections have.
  const count = (): void => {
    add(socket.bytesWritten - sent, socket.bytesRead - received);
    [sent, received] = [socket.bytesWritten, socket.bytesRead];
  };
  outgoing.on("finish", count);
  socket.once("close", count);
  for (const stream of [incoming, response, outgoing]) stream.on("error", giveUp);
  response.on("close", () => outgoing.destroy());
  // One that leads to another protocol is not an answer.
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
      // A parser takes more of a status line than may be written in one.
      giveUp();
    }
  });
  incoming.pipe(outgoing);
  // Behind the pipe: what was just read is written by then.
  incoming.on("data", count);
}
