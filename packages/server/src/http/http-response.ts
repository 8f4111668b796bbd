import type { ServerResponse } from "node:http";
import { Code } from "@connectrpc/connect";

/** Connect's error codes, as far as plain HTTP answers need them: `connect` clients read `{code, message}` of an error body. */
export type HttpErrorCode =
  | "invalid_argument"
  | "unauthenticated"
  | "permission_denied"
  | "unimplemented"
  | "resource_exhausted"
  | "unavailable"
  | "internal";

export interface HttpError {
  readonly status: number;
  readonly code: HttpErrorCode;
  /** For a person; never holds what the request said. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes.byteLength });
  response.end(bytes);
}

/** After this answer. HTTP/2 has no such thing: its connection carries others. */
export function endConnection(response: ServerResponse): void {
  if (response.req.httpVersionMajor < 2) response.setHeader("Connection", "close");
}

/**
 * The error as a body of JSON, which Connect's unary calls and people read, and in the headers of gRPC-Web, whose clients
 * read nothing else of an answer that is no 200. Streams of the Connect protocol see the status alone.
 */
export function sendError(response: ServerResponse, error: HttpError): void {
  response.setHeader("Grpc-Status", grpcCodes[error.code]);
  response.setHeader("Grpc-Message", encodeURIComponent(error.message));
  for (const [name, value] of Object.entries(error.headers)) {
    if (name === "Connection") endConnection(response);
    else response.setHeader(name, value);
  }
  sendJson(response, error.status, { code: error.code, message: error.message });
}

const grpcCodes: Record<HttpErrorCode, Code> = {
  invalid_argument: Code.InvalidArgument,
  unauthenticated: Code.Unauthenticated,
  permission_denied: Code.PermissionDenied,
  unimplemented: Code.Unimplemented,
  resource_exhausted: Code.ResourceExhausted,
  unavailable: Code.Unavailable,
  internal: Code.Internal,
};
