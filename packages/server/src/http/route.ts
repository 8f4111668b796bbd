import type { IncomingMessage, ServerResponse } from "node:http";
import type { Identity } from "@gennai/sessions/session/identity";

/** What one exact path serves. Any other path is 404. */
export interface Route {
  /** GET routes have no side effects. */
  readonly method: "GET" | "POST";
  /** Media types (lower case, no parameters) a POST body may have. Empty for GET. */
  readonly mediaTypes: ReadonlySet<string>;
  /**
   * - `token`: the server's token, a user's, or that of one of its own pages
   * - `server-token`: the server's token or a user's, no page's
   * - `none`: only for what a client needs before it may send a token; nothing secret, no effect except issuing a token
   */
  readonly authentication: "token" | "server-token" | "none";
  readonly handle: (request: IncomingMessage, response: ServerResponse, context: RouteContext) => void | Promise<void>;
}

/** The guard's findings about a request. */
export interface RouteContext {
  /** The page whose token came with the request; undefined: the server's own token, or none. */
  readonly page: PageGrant | undefined;
  /** The caller; on a route without authentication, an unknown one. */
  readonly identity: Identity;
}

/** By exact path, as it stands in the request line. */
export type RouteTable = ReadonlyMap<string, Route>;

/**
 * gRPC-Web and Connect, binary and JSON. Not `application/grpc` (needs HTTP/2), and not `grpc-web-text`: base64 only serves
 * browsers without fetch, and connect refuses it too.
 */
const RPC_MEDIA_TYPES: ReadonlySet<string> = new Set([
  "application/grpc-web",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/connect+proto",
  "application/connect+json",
  "application/proto",
  "application/json",
]);

/** Routes for the RPC layer: `paths` are `/package.Service/Method`, `handle` is connect's node adapter. */
export function rpcRoutes(paths: Iterable<string>, handle: Route["handle"]): [string, Route][] {
  const route: Route = { method: "POST", mediaTypes: RPC_MEDIA_TYPES, authentication: "token", handle };
  return Array.from(paths, (path) => [path, route]);
}

/** The tokens of the pages this server itself serves. */
export interface PageGrants {
  /** undefined for a token of no page. */
  accept(token: string): PageGrant | undefined;
}

/** What one page may do with its token. */
export interface PageGrant {
  /** The user who opened it. */
  readonly identity: Identity;
  /** The answer ends when the token does. */
  follow(response: ServerResponse): void;
  /** Shuts the page out. */
  revoke(): void;
}
