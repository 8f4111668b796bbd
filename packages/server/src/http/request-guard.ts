import { cors } from "@connectrpc/connect";
import { type Identity, oneUser } from "@gennai/sessions/session/identity";
import type { TokenJudgement } from "../identity/token-verifier.ts";
import type { HttpError, HttpErrorCode } from "./http-response.ts";
import type { PageGrant, PageGrants, Route, RouteTable } from "./route.ts";
import { matchesToken, type TokenDigest } from "./token.ts";

/** The parts of a request that the guard sees. Forwarding and method-override headers are excluded, so they have no effect. */
export interface GuardedRequest {
  readonly method: string;
  /** The request target from the request line. */
  readonly target: string;
  /** Name, value, name, value, …, with duplicates, as `IncomingMessage.rawHeaders`. */
  readonly rawHeaders: readonly string[];
}

export interface GuardPolicy {
  /** Values of Host that mean this server, lower case, with port: see `ownHosts`. */
  readonly hosts: ReadonlySet<string>;
  /** Origins (`https://app.example`) of pages the user lets in, besides a page this server itself serves. */
  readonly origins: ReadonlySet<string>;
  /** How pages of this server are reached; `http` unless given. */
  readonly scheme?: "http" | "https";
  /** undefined: the user chose `--no-auth`, or there are many users. */
  readonly token: TokenDigest | undefined;
  /** On a server with several users: identifies the user of a token. */
  readonly judge?: (token: string) => Promise<TokenJudgement>;
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
      readonly identity: Identity;
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
 * Decides about a request before its body is read. Order: malformed 400, Host 421, Origin 403, token 401, path 404, method 405,
 * body 415: an unauthorised caller learns nothing about the routes.
 */
export async function guardRequest(request: GuardedRequest, policy: GuardPolicy): Promise<GuardResult> {
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
    return refuse(421, "permission_denied", "this server does not answer for that host; if it should: --allow-host");
  }

  const origin = one("origin");
  const page = originHeaders(origin, host, policy);
  if (page === undefined || headers.has("access-control-request-private-network")) {
    return refuse(403, "permission_denied", "this origin is not allowed; if it should be: --allow-origin");
  }
  if (request.method === "OPTIONS" && origin !== undefined && headers.has("access-control-request-method")) {
    return { type: "preflight", headers: { ...page, ...preflightHeaders() } };
  }

  const route = policy.routes.get(request.target);
  let grant: PageGrant | undefined;
  let identity = oneUser;
  if ((policy.token !== undefined || policy.judge !== undefined) && route?.authentication !== "none") {
    const token = bearerToken(one("authorization"));
    const isPage = token !== undefined && route?.authentication === "token" && isOwnPage(host, one, policy.scheme);
    if (isPage) grant = policy.pages?.accept(token);
    const known = grant === undefined ? await whoHas(token, policy) : grant.identity;
    if (known === "undecided") {
      const headers = { ...page, "Retry-After": "5" };
      return refuse(503, "unavailable", "the keys of the token issuer are not available right now", headers);
    }
    if (known === undefined) {
      const wanted = policy.judge === undefined ? "the server's token" : "a valid token of yours";
      return refuse(401, "unauthenticated", `send ${wanted}: Authorization: Bearer <token>`, {
        ...page,
        "WWW-Authenticate":
          policy.judge === undefined || token === undefined ? "Bearer" : 'Bearer error="invalid_token"',
      });
    }
    identity = known;
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
  return { type: "pass", route, headers: page, page: grant, identity };
}

async function whoHas(token: string | undefined, policy: GuardPolicy): Promise<Identity | "undecided" | undefined> {
  if (policy.judge === undefined) {
    return policy.token !== undefined && matchesToken(token, policy.token) ? oneUser : undefined;
  }
  const judgement = token === undefined ? undefined : await policy.judge(token);
  if (judgement?.type === "undecided") return "undecided";
  return judgement?.type === "accepted" ? judgement.identity : undefined;
}

/**
 * True for a request by script of a page that this server served under that very host. Browsers send `Origin` with every
 * POST, and `Sec-Fetch-Site` where they hold the address for trustworthy; no page can set either.
 */
export function isOwnPage(
  host: string,
  header: (name: string) => string | undefined,
  scheme: "http" | "https" = "http",
): boolean {
  return (
    header("origin") === `${scheme}://${host.toLowerCase()}` &&
    (header("sec-fetch-site") ?? "same-origin") === "same-origin"
  );
}

/**
 * Host values a server on `port` answers to: the loopback names, the address it listens on unless that is a wildcard, and
 * `configured` (`host` or `host:port`). Without a port (a unix socket, or the scheme's own port) the bare names count.
 */
export function ownHosts(
  listening: { readonly host: string; readonly port: number } | undefined,
  configured: readonly string[],
  scheme: "http" | "https" = "http",
): ReadonlySet<string> {
  const port = listening === undefined ? "" : `:${listening.port}`;
  const names = ["localhost", "127.0.0.1", "[::1]"];
  if (listening !== undefined && !["0.0.0.0", "::", ""].includes(listening.host)) {
    names.push(listening.host.includes(":") ? `[${listening.host}]` : listening.host);
  }
  const hosts = new Set<string>();
  for (const name of names) {
    hosts.add(`${name.toLowerCase()}${port}`);
    if (listening?.port === (scheme === "http" ? 80 : 443)) hosts.add(name.toLowerCase());
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
  if (origin === `${policy.scheme ?? "http"}://${host}`) return { Vary: "Origin" };
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
    "Access-Control-Allow-Headers": ["Authorization", "traceparent", ...cors.allowedHeaders].join(", "),
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
