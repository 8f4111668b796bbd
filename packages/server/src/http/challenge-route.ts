import type { IncomingMessage, ServerResponse } from "node:http";
import { nonceSyntax, serverProof } from "@gennai/protocol/server-proof";
import { z } from "zod";
import { Allowance } from "../admission/allowance.ts";
import { sendError, sendJson } from "./http-response.ts";
import type { Route } from "./route.ts";
import { readSmallJson } from "./small-json.ts";

const questionSchema = z.object({ nonce: z.string().regex(nonceSyntax) });
const PROOFS_PER_SECOND = 50;

/**
 * Lets the server prove that it knows the token, see `serverProof`. Without authentication; limited in size and in answers per
 * second; `now` is in milliseconds.
 */
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
    sendJson(response, 200, { proof: serverProof(token, incoming.headers.host ?? "", question.nonce) });
  };
  return { method: "POST", mediaTypes: new Set(["application/json"]), authentication: "none", handle };
}
