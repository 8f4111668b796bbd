import type { IncomingMessage, ServerResponse } from "node:http";
import { answerPath, PAGE_ANSWER_PATH } from "@gennai/protocol/page-paths";
import { z } from "zod";
import { Allowance } from "../admission/allowance.ts";
import { sendError, sendJson } from "../http/http-response.ts";
import { isOwnPage } from "../http/request-guard.ts";
import type { Route } from "../http/route.ts";
import { readSmallJson } from "../http/small-json.ts";
import type { AskedElsewhere } from "./asked-elsewhere.ts";

const triesPerSecond = 10;
const secret = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/);
const askedSchema = z.union([
  z.strictObject({ code: secret, pin: z.string().max(64) }),
  z.strictObject({ token: secret }),
  z.strictObject({
    token: secret,
    answer: z.enum(["yes", "no"]),
    reason: z.string().max(200).default(""),
    actionSha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
]);

/**
 * The page of one question, and its one way to the server: a code and a PIN for a token, the token for the question, the token and an
 * answer. Nothing happens by GET, and no other path takes such a token.
 */
export function answerRoutes(
  elsewhere: AskedElsewhere,
  {
    page,
    scheme,
    now = () => performance.now(),
  }: { readonly page: Route; readonly scheme: "http" | "https"; readonly now?: () => number },
): readonly (readonly [string, Route])[] {
  const allowance = new Allowance(triesPerSecond, now);
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const header = (name: string): string | undefined => {
      const value = request.headers[name];
      return typeof value === "string" ? value : undefined;
    };
    if (!isOwnPage(request.headers.host ?? "", header, scheme)) {
      return refuse(response, 403, "only the page this server serves may answer");
    }
    if (!allowance.take()) return refuse(response, 429, "too many tries, wait a second");
    const asked = await readSmallJson(request, askedSchema);
    if (asked === undefined) return refuse(response, 400, "send a code and a PIN, or a token");
    if ("answer" in asked) {
      const isTaken = await elsewhere.answer(asked.token, asked);
      if (!isTaken) return refuse(response, 409, "this question is over, or was answered elsewhere");
      return sendJson(response, 200, { answer: asked.answer });
    }
    const token = "token" in asked ? asked.token : await elsewhere.enter(asked.code, asked.pin);
    const question = token === undefined ? undefined : elsewhere.question(token);
    if (token === undefined || question === undefined) {
      return refuse(response, 403, "the PIN is wrong, or the link was used, is over, or of another server");
    }
    sendJson(response, 200, { token, ...question });
  };
  return [
    [answerPath, page],
    [PAGE_ANSWER_PATH, { method: "POST", mediaTypes: new Set(["application/json"]), authentication: "none", handle }],
  ];
}

const codes = {
  400: "invalid_argument",
  403: "permission_denied",
  409: "unavailable",
  429: "resource_exhausted",
} as const;

function refuse(response: ServerResponse, status: keyof typeof codes, message: string): void {
  sendError(response, { status, code: codes[status], message, headers: status === 429 ? { "Retry-After": "1" } : {} });
}
