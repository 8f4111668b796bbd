import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { z } from "zod";
import { Allowance } from "../admission/allowance.ts";
import { sendError, sendJson } from "./http-response.ts";
import type { Route } from "./route.ts";
import { readSmallJson } from "./small-json.ts";

export const CHALLENGE_PATH = "/challenge";

/** base64url of 16 to 96 bytes. */
const questionSchema = z.object({ nonce: z.string().regex(/^[A-Za-z0-9_-]{22,128}$/) });
const answerSchema = z.object({ proof: z.base64url() });
const PROOFS_PER_SECOND = 50;

/**
 * A server that knows the token proves it without seeing it: `POST /challenge {"nonce"}` answers `{"proof"}`, the HMAC-SHA256
 * with the token as key over `gennai-server-proof:<host>:<nonce>`, base64url. `host` is the Host the client sent, so that a
 * squatter cannot pass the challenge on to a real server on another port: that one would sign its own name.
 */
function computeProof(token: string, host: string, nonce: string): Buffer {
  return createHmac("sha256", token).update(`gennai-server-proof:${host.toLowerCase()}:${nonce}`).digest();
}

/** A route without authentication. Bounded in size and in answers a second; `now` is in milliseconds. */
export function challengeRoute(token: string, options: { readonly now?: () => number } = {}): Route {
  const allowance = new Allowance(PROOFS_PER_SECOND, options.now ?? (() => performance.now()));
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!allowance.take()) {
      const headers = { "Retry-After": "1" };
      sendError(response, {
        status: 429,
        code: "resource_exhausted",
        message: "too many challenges, wait a second",
        headers,
      });
      return;
    }
    const question = await readSmallJson(incoming, questionSchema);
    if (question === undefined) {
      const message = 'send {"nonce": "<22 to 128 base64url characters>"}';
      sendError(response, { status: 400, code: "invalid_argument", message, headers: { Connection: "close" } });
      return;
    }
    const proof = computeProof(token, incoming.headers.host ?? "", question.nonce).toString("base64url");
    sendJson(response, 200, { proof });
  };
  return { method: "POST", mediaTypes: new Set(["application/json"]), authentication: "none", handle };
}

/** Where a server is: `url` is `http://host:port`, or `https://…`; with `socketPath` the connection goes to that unix socket. */
export interface ServerAddress {
  readonly url: string;
  readonly socketPath?: string | undefined;
}

/**
 * Asks the server at `address` to prove that it knows the token. Nothing of the token is sent. False when it answers wrongly
 * or not as Gennai does; rejects when it cannot be reached or the signal aborts.
 */
export async function proveServer(
  address: ServerAddress,
  token: string,
  options: { readonly signal: AbortSignal },
): Promise<boolean> {
  const url = new URL(CHALLENGE_PATH, address.url);
  const nonce = randomBytes(32).toString("base64url");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const outgoing = request(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Connection: "close" },
    agent: false,
    signal: options.signal,
    ...(address.socketPath === undefined ? {} : { socketPath: address.socketPath }),
  });
  outgoing.once("response", resolve).once("error", reject).end(JSON.stringify({ nonce }));
  const response = await promise;
  try {
    const answer = response.statusCode === 200 ? await readSmallJson(response, answerSchema) : undefined;
    const proof = Buffer.from(answer?.proof ?? "", "base64url");
    const expected = computeProof(token, url.host, nonce);
    return proof.byteLength === expected.byteLength && timingSafeEqual(proof, expected);
  } finally {
    outgoing.destroy();
  }
}
