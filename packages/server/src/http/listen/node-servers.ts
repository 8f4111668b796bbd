import { createServer } from "node:http";
import { createSecureServer, type ServerHttp2Session } from "node:http2";
import type { Server } from "node:net";
import type { TLSSocket } from "node:tls";
import type { HttpTimeouts } from "./http-server.ts";
import type { TlsIdentity } from "./tls-files.ts";

/** A server of node that is not listening yet. Its requests are events. */
export interface OpenServer {
  readonly server: Server;
  /** Ends connections on which nothing is under way. */
  closeIdle(): void;
  /** Cuts all. */
  closeAll(): void;
}

const maxHeaderSize = 16 * 1024;
/** Streams that one HTTP/2 connection may have open. */
const maxStreams = 128;

/** HTTP/1.1, unencrypted. */
export function openPlainServer(timeouts: HttpTimeouts): OpenServer {
  const server = createServer({
    maxHeaderSize,
    requireHostHeader: false, // The guard asks for it, also in HTTP/1.0.
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headers),
    keepAliveTimeout: timeouts.keepAlive,
    keepAlive: true,
    noDelay: true,
  });
  return {
    server,
    closeIdle: () => server.closeIdleConnections(),
    closeAll: () => server.closeAllConnections(),
  };
}

/** HTTP/2 and HTTP/1.1, whichever the client chooses, over TLS 1.2 or newer. */
export function openTlsServer(
  timeouts: HttpTimeouts,
  tls: TlsIdentity,
): OpenServer & { renew(tls: TlsIdentity): void } {
  const server = createSecureServer({
    ...contextOf(tls),
    allowHTTP1: true,
    handshakeTimeout: timeouts.headers,
    settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderSize },
    noDelay: true,
  });
  // The HTTP/1.1 part of the server.
  Object.assign(server, {
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headers),
  });
  const sockets = new Set<TLSSocket>();
  const sessions = new Set<ServerHttp2Session>();
  server.on("secureConnection", (socket: TLSSocket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    // Only closed to new streams: what is under way ends by itself.
    session.setTimeout(timeouts.keepAlive, () => session.close());
    session.on("error", () => undefined);
  });
  return {
    server,
    renew: (renewed) => server.setSecureContext(contextOf(renewed)),
    closeIdle() {
      for (const session of sessions) if (!session.closed) session.close();
    },
    closeAll() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function contextOf({ cert, key }: TlsIdentity) {
  return { cert, key, minVersion: "TLSv1.2" as const, honorCipherOrder: true };
}
