import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Server } from "node:net";
import type { Duplex } from "node:stream";

const LINGER_MS = 1_000;

/**
 * Answers bytes that are no request (400), too many headers (431) and requests that do not arrive in time (408), and closes
 * the connection. What is still coming is read and dropped for a moment: closing on unread bytes resets the connection, and
 * the peer would never see the answer.
 */
export function refuseBrokenRequests(server: Server): void {
  const answering = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    if (request.httpVersionMajor < 2) answering.set(request.socket, response);
  });

  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    const response = answering.get(socket);
    const midAnswer = response !== undefined && response.headersSent && !response.writableFinished;
    if (!socket.writable || midAnswer || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    const status = statusOf(error.code);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(linger));
  });
}

function statusOf(code: string | undefined): number {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return 431;
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return 413;
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return 408;
    default:
      return 400;
  }
}
