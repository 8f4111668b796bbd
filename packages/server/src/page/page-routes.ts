import type { IncomingMessage, ServerResponse } from "node:http";
import {
  PAGE_CLOSE_PATH,
  PAGE_CODE_PATH,
  PAGE_DEVICES_PATH,
  PAGE_LOGIN_PATH,
  PAGE_TOKEN_PATH,
} from "@gennai/protocol/page-paths";
import { type Identity, oneUser } from "@gennai/sessions/session/identity";
import { z } from "zod";
import { Allowance } from "../admission/allowance.ts";
import { sendError, sendJson } from "../http/http-response.ts";
import { isOwnPage } from "../http/request-guard.ts";
import type { Route, RouteContext } from "../http/route.ts";
import { readSmallJson } from "../http/small-json.ts";
import { OneTimeCodes } from "./one-time-codes.ts";
import type { PageDevices } from "./page-devices.ts";
import { type PageFile, pageScript } from "./page-files.ts";
import type { PageTokens } from "./page-tokens.ts";

/** Milliseconds for which a link opens the page. */
const PAGE_CODE_LIFETIME_MS = 5 * 60_000;
/** Milliseconds that a browser has to sign a nonce. */
const NONCE_LIFETIME_MS = 60_000;
const OPEN_CODES = 16;
const EXCHANGES_PER_SECOND = 10;

const codeSchema = z.strictObject({ code: z.string().regex(/^[A-Za-z0-9_-]{1,128}$/) });
const emptySchema = z.strictObject({});
/** Without either: only the list. */
const devicesSchema = z.strictObject({
  remember: z
    .strictObject({
      name: z
        .string()
        .max(200)
        .regex(/^\P{Cc}*$/u),
      publicKey: z.base64().max(400),
    })
    .optional(),
  forget: z.union([z.uuid(), z.literal("all")]).optional(),
});
/** Without a proof: a nonce to sign. */
const loginSchema = z.strictObject({
  proof: z.strictObject({ id: z.uuid(), nonce: z.string().max(128), signature: z.base64().max(200) }).optional(),
});

export interface PageDoor {
  /** The page itself, which shows what its address says. */
  readonly page: Route;
  readonly routes: readonly (readonly [string, Route])[];
  /** A code that opens the page once, in the name of a person: `http://…/#<code>`. */
  issueCode(identity: Identity): string;
}

/**
 * The page and access to it: `GET /` and `/assets/…` for everyone who reaches the port; `POST /page/code` creates a one-time
 * code for a caller with the server's token; the page exchanges it with `POST /page/token` for its own token, and returns that
 * with `POST /page/close`. A browser that is remembered (`POST /page/devices`) gets a token for a signature of its own key
 * (`POST /page/login`).
 */
export function openPageDoor(options: {
  readonly files: readonly PageFile[];
  readonly facts: PageFacts;
  readonly tokens: PageTokens;
  /** Browsers that are remembered; undefined on a server of several users, whose tokens expire. */
  readonly devices?: PageDevices | undefined;
  /** How the page is reached; `http` unless given. */
  readonly scheme?: "http" | "https";
  /** Monotonic; milliseconds. */
  readonly now?: () => number;
}): PageDoor {
  const { files, facts, tokens, now = () => performance.now() } = options;
  const codes = new OneTimeCodes({ lifetimeMs: PAGE_CODE_LIFETIME_MS, limit: OPEN_CODES, now });
  const nonces = new OneTimeCodes({ lifetimeMs: NONCE_LIFETIME_MS, limit: OPEN_CODES, now });
  const allowance = new Allowance(EXCHANGES_PER_SECOND, now);
  const html = Buffer.from(pageHtml(files, facts));

  /** False if it was answered: for another page, and for too many tries. */
  const mayTry = (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!isOwnPage(request.headers.host ?? "", (name) => single(request.headers[name]), options.scheme)) {
      const message = "only the page this server serves may ask for its token";
      sendError(response, { status: 403, code: "permission_denied", message, headers: { Connection: "close" } });
      return false;
    }
    if (allowance.take()) return true;
    const headers = { "Retry-After": "1", Connection: "close" };
    sendError(response, { status: 429, code: "resource_exhausted", message: "too many tries, wait a second", headers });
    return false;
  };

  const exchange = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!mayTry(request, response)) return;
    const asked = await readSmallJson(request, codeSchema);
    if (asked === undefined) return notUnderstood(response, 'send {"code": "<the code of the link>"}');
    const identity = codes.redeem(asked.code);
    if (identity === undefined) {
      const message = "this link was used, is too old, or is of another server: get a new one with `gennai open`";
      sendError(response, { status: 403, code: "permission_denied", message, headers: {} });
      return;
    }
    sendJson(response, 200, { token: tokens.issue(identity) });
  };

  const manage =
    (devices: PageDevices): Route["handle"] =>
    async (request, response) => {
      const asked = await readSmallJson(request, devicesSchema);
      if (asked === undefined) return notUnderstood(response, "send {}, {remember: {name, publicKey}} or {forget: id}");
      const { remember, forget } = asked;
      if (forget !== undefined) {
        const id = forget === "all" ? undefined : forget;
        await devices.forget(id);
        response.once("finish", () => tokens.revokeDevice(id));
      }
      const origin = single(request.headers.origin);
      const added = remember && origin ? await devices.remember({ ...remember, origin }) : undefined;
      if (remember !== undefined && added === undefined) {
        return notUnderstood(response, "send an ECDSA P-256 key, from a page");
      }
      const list = (await devices.list()).map(({ publicKey: _key, ...shown }) => shown);
      sendJson(response, 200, { ...(added === undefined ? {} : { id: added.id }), devices: list });
    };

  const login =
    (devices: PageDevices): Route["handle"] =>
    async (request, response) => {
      if (!mayTry(request, response)) return;
      const asked = await readSmallJson(request, loginSchema);
      if (asked === undefined) return notUnderstood(response, "send {}, or {proof: {id, nonce, signature}}");
      const { proof } = asked;
      if (proof === undefined) return sendJson(response, 200, { nonce: nonces.issue(oneUser) });
      const identity = nonces.redeem(proof.nonce);
      const origin = single(request.headers.origin) ?? "";
      if (identity !== undefined && (await devices.proves({ ...proof, origin }))) {
        return sendJson(response, 200, { token: tokens.issue(identity, proof.id) });
      }
      const message = "this browser is not remembered: open the page by a link of `gennai open`";
      sendError(response, { status: 403, code: "permission_denied", message, headers: {} });
    };

  const page = file({ mediaType: "text/html; charset=utf-8", bytes: html, tag: undefined });
  const routes: [string, Route][] = [
    ["/", page],
    ...files.map((each): [string, Route] => [`/assets/${each.name}`, file(each)]),
  ];
  if (facts.authenticated) {
    routes.push(
      [PAGE_TOKEN_PATH, post("none", exchange)],
      [
        PAGE_CODE_PATH,
        post(
          "server-token",
          withoutBody(({ identity }, response) => sendCode(response, codes.issue(identity))),
        ),
      ],
      [
        PAGE_CLOSE_PATH,
        post(
          "token",
          withoutBody(async ({ page, identity }, response) => {
            if (page === undefined) {
              // A browser that is remembered would come back at once.
              await options.devices?.forget();
              tokens.revokeAll(identity);
            } else response.once("finish", () => page.revoke());
            sendJson(response, 200, {});
          }),
        ),
      ],
    );
  }
  if (facts.authenticated && options.devices !== undefined) {
    routes.push(
      [PAGE_DEVICES_PATH, post("token", manage(options.devices))],
      [PAGE_LOGIN_PATH, post("none", login(options.devices))],
    );
  }
  return { page, routes, issueCode: (identity) => codes.issue(identity) };
}

function sendCode(response: ServerResponse, code: string): void {
  sendJson(response, 200, { code, lifetimeMs: PAGE_CODE_LIFETIME_MS });
}

function notUnderstood(response: ServerResponse, message: string): void {
  sendError(response, { status: 400, code: "invalid_argument", message, headers: { Connection: "close" } });
}

function post(authentication: Route["authentication"], handle: Route["handle"]): Route {
  return { method: "POST", mediaTypes: new Set(["application/json"]), authentication, handle };
}

function withoutBody(
  answer: (context: RouteContext, response: ServerResponse) => void | Promise<void>,
): Route["handle"] {
  return async (request, response, context) => {
    if ((await readSmallJson(request, emptySchema)) !== undefined) return answer(context, response);
    notUnderstood(response, "send {}");
  };
}

/** Scripts, styles and calls of this origin only; no embedding, neither in frames nor by other origins. */
const headers = {
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "X-Frame-Options": "DENY",
} as const;

function file(content: Pick<PageFile, "mediaType" | "bytes"> & { readonly tag: string | undefined }): Route {
  return {
    method: "GET",
    mediaTypes: new Set(),
    authentication: "none",
    handle: (request, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      if (content.tag !== undefined) {
        // Kept, and asked about each time: a server that was built anew has other files under the same names.
        response.setHeader("Cache-Control", "no-cache");
        response.setHeader("ETag", `"${content.tag}"`);
        if (request.headers["if-none-match"] === `"${content.tag}"`) {
          response.writeHead(304).end();
          return;
        }
      }
      response.writeHead(200, { "Content-Type": content.mediaType, "Content-Length": content.bytes.byteLength });
      response.end(content.bytes);
    },
  };
}

function single(header: string | string[] | undefined): string | undefined {
  return typeof header === "string" ? header : undefined;
}

/** Facts for the page before it can make requests. No secrets: readable for everyone who reaches the port. */
interface PageFacts {
  readonly version: string;
  /** False: the user chose `--no-auth`, and the page needs no link. */
  readonly authenticated: boolean;
}

/** The page that loads the app; or instructions to build it, if there are no files. */
function pageHtml(files: readonly PageFile[], facts: PageFacts): string {
  return files.length === 0 ? notBuilt : appHtml(files, facts);
}

function appHtml(files: readonly PageFile[], { version, authenticated }: PageFacts): string {
  const styles = files.filter(({ name }) => name.endsWith(".css"));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="gennai-version" content="${escaped(version)}">
<meta name="gennai-auth" content="${authenticated ? "link" : "none"}">
<title>Gennai</title>
<link rel="icon" href="data:,">
${styles.map(({ name }) => `<link rel="stylesheet" href="/assets/${name}">`).join("\n")}
<script type="module" src="/assets/${pageScript}"></script>
</head>
<body>
<div id="app"></div>
<noscript>Gennai's page needs JavaScript.</noscript>
</body>
</html>
`;
}

const notBuilt = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Gennai</title>
<link rel="icon" href="data:,">
</head>
<body>
<h1>The page is not built</h1>
<p>This server runs from source. In the repository's directory, run <code>node packages/repl/scripts/build.mjs</code>, then start it again.</p>
<p><code>npm start</code> builds the page by itself.</p>
</body>
</html>
`;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
