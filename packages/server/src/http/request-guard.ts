import { cors } from "@connectrpc/connect";
import type { HttpError, HttpErrorCode } from "./http-response.ts";
import type { PageGrant, PageGrants } from "./page-grant.ts";
import type { Route, RouteTable } from "./route.ts";
import { matchesToken, type TokenDigest } from "./token.ts";

/** What the guard sees of a request. Forwarding and method-override headers are not among it, so they can change nothing. */
export interface GuardedRequest {
  readonly method: string;
  /** The request target as it stands in the request line. */
  readonly target: string;
  /** Name, value, name, value, …, with duplicates, as `IncomingMessage.rawHeaders`. */
  readonly rawHeaders: readonly string[];
}

export interface GuardPolicy {
  /** Values of Host that mean this server, lower case, with port: see `ownHosts`. */
  readonly hosts: ReadonlySet<string>;
  /** Origins (`https://app.example`) of pages the user lets in, besides a page this server itself serves. */
  readonly origins: ReadonlySet<string>;
  /** undefined: the user chose `--no-auth`. */
  readonly token: TokenDigest | undefined;
  /** Whose tokens count like the server's own, from the page's own origin alone. */
  readonly pages?: PageGrants;
  readonly routes: RouteTable;
}

/** `headers` belong on the answer whatever it becomes. A `preflight` is answered with 204 and these headers alone. */
export type GuardResult =
  | {
      readonly type: "pass";
      readonly route: Route;
      readonly headers: Readonly<Record<string, string>>;
      /** The page whose token it was. */
      readonly page: PageGrant | undefined;
    }
  | { readonly type: "preflight"; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "refuse"; readonly error: HttpError };

/** Headers whose repetition would leave open which one counts. */
const SINGLE_HEADERS = [
  "host",
  "authorization",
  "origin",
  "content-type",
  "content-encoding",
  "sec-fetch-site",
] as const;

/** `uri-host [":" port]` of RFC 9110, without user info, percent-encoding or zone. */
const HOST_SYNTAX = /^(?:[a-z0-9._~-]+|\[[0-9a-f:.]+\])(?::[0-9]*)?$/i;

/**
 * Decides about a request before anything reads its body. Order: malformed 400, Host 421, Origin 403, token 401, path 404,
 * method 405, body 415: who may not talk to this server learns nothing about its routes.
 */
export function guardRequest(request: GuardedRequest, policy: GuardPolicy): GuardResult {
  const headers = readHeaders(request.rawHeaders);
  const repeated = SINGLE_HEADERS.find((name) => (headers.get(name)?.length ?? 0) > 1);
  if (repeated !== undefined) return refuse(400, "invalid_argument", `send one ${repeated} header`);
  const one = (name: string): string | undefined => headers.get(name)?.[0];

  const host = one("host")?.toLowerCase();
  if (host === undefined || !HOST_SYNTAX.test(host)) {
    return refuse(400, "invalid_argument", "send a Host header of the form host:port");
  }
  const authority = absoluteFormAuthority(request.target) ?? host;
  if (!policy.hosts.has(host) || !policy.hosts.has(authority)) {
    return refuse(421, "permission_denied", "this server does not answer for that host; allow it by name if it should");
  }

  const origin = one("origin");
  const page = originHeaders(origin, host, policy);
  if (page === undefined || headers.has("access-control-request-private-network")) {
    return refuse(403, "permission_denied", "this origin is not allowed; allow it by name if it should be");
  }
  if (request.method === "OPTIONS" && origin !== undefined && headers.has("access-control-request-method")) {
    return { type: "preflight", headers: { ...page, ...preflightHeaders() } };
  }

  const route = policy.routes.get(request.target);
  let grant: PageGrant | undefined;
  if (policy.token !== undefined && route?.authentication !== "none") {
    const token = bearerToken(one("authorization"));
    const isPage = token !== undefined && route?.authentication === "token" && isOwnPage(host, one);
    if (isPage) grant = policy.pages?.accept(token);
    if (!matchesToken(token, policy.token) && grant === undefined) {
      return refuse(401, "unauthenticated", "send the server's token: Authorization: Bearer <token>", {
        ...page,
        "WWW-Authenticate": "Bearer",
      });
    }
  }
  if (route === undefined) return refuse(404, "unimplemented", "nothing is served at this path", page);
  if (request.method !== route.method) {
    return refuse(405, "unimplemented", `use ${route.method} here`, { ...page, Allow: route.method });
  }
  if (route.method === "POST") {
    if (!route.mediaTypes.has(mediaType(one("content-type")))) {
      return refuse(415, "unimplemented", "this content type is not accepted here", {
        ...page,
        "Accept-Post": [...route.mediaTypes].join(", "),
      });
    }
    const encoding = one("content-encoding")?.trim().toLowerCase() ?? "identity";
    if (encoding !== "identity") {
      return refuse(415, "unimplemented", "send the body uncompressed", { ...page, "Accept-Encoding": "identity" });
    }
  }
  return { type: "pass", route, headers: page, page: grant };
}

/**
 * True for a request by script of a page that this server served under that very host. Browsers send `Origin` with every
 * POST, and `Sec-Fetch-Site` where they hold the address for trustworthy; no page can set either.
 */
export function isOwnPage(host: string, header: (name: string) => string | undefined): boolean {
  return (
    header("origin") === `http://${host.toLowerCase()}` && (header("sec-fetch-site") ?? "same-origin") === "same-origin"
  );
}

/**
 * Host values a server on `port` answers to: the loopback names, the address it listens on unless that is a wildcard, and
 * `configured` (`host` or `host:port`). Without a port (a unix socket, or port 80) the bare names count.
 */
export function ownHosts(
  listening: { readonly host: string; readonly port: number } | undefined,
  configured: readonly string[],
): ReadonlySet<string> {
  const port = listening === undefined ? "" : `:${listening.port}`;
  const names = ["localhost", "127.0.0.1", "[::1]"];
  if (listening !== undefined && !["0.0.0.0", "::", ""].includes(listening.host)) {
    names.push(listening.host.includes(":") ? `[${listening.host}]` : listening.host);
  }
  const hosts = new Set<string>();
  for (const name of names) {
    hosts.add(`${name.toLowerCase()}${port}`);
    if (listening?.port === 80) hosts.add(name.toLowerCase());
  }
  for (const host of configured) hosts.add(host.toLowerCase());
  return hosts;
}

/** Headers for a page of that origin; undefined when the origin is refused. */
function originHeaders(
  origin: string | undefined,
  host: string,
  policy: GuardPolicy,
): Record<string, string> | undefined {
  if (origin === undefined) return {};
  if (origin === `http://${host}`) return { Vary: "Origin" };
  if (!policy.origins.has(origin)) return undefined;
  return {
    Vary: "Origin",
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": cors.exposedHeaders.join(", "),
  };
}

function preflightHeaders(): Record<string, string> {
  return {
    "Access-Control-Allow-Methods": cors.allowedMethods.join(", "),
    "Access-Control-Allow-Headers": ["Authorization", ...cors.allowedHeaders].join(", "),
    "Access-Control-Max-Age": "600",
  };
}

function readHeaders(raw: readonly string[]): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? "").toLowerCase();
    const values = headers.get(name) ?? [];
    values.push(raw[index + 1] ?? "");
    headers.set(name, values);
  }
  return headers;
}

/** `POST http://host/path`: that host, not the header, says whom the request is for. */
function absoluteFormAuthority(target: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1]?.toLowerCase();
}

function bearerToken(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
}

function mediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

function refuse(
  status: number,
  code: HttpErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): GuardResult {
  return { type: "refuse", error: { status, code, message, headers } };
}
