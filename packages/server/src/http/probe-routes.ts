import { sendJson } from "./http-response.ts";
import type { Route } from "./route.ts";

/** Whether the process works at all. A supervisor that restarts it on failure loses the running turns. */
const LIVE_PATH = "/livez";
/** Whether the server should get new work. */
const READY_PATH = "/readyz";

/** Why a server takes no work just now; undefined: it does. */
export type NotReady = "draining" | "no_contact_with_log" | "ledger_rolled_back" | undefined;

/**
 * `GET /livez` and `GET /readyz`, for what watches over servers and balances between them: 200 `{"status":"ok"}`, and for the
 * second one 503 with the reason. They need no token and tell no more than this.
 *
 * @param rolledBack how many tenants' stores are behind what was signed, which the second one tells as `ledgers_rolled_back`
 */
export function probeRoutes(notReady: () => NotReady, rolledBack: () => number): readonly (readonly [string, Route])[] {
  const probe = (path: string, answer: () => readonly [reason: NotReady, rolledBack: number]) =>
    [
      path,
      {
        method: "GET",
        mediaTypes: new Set<string>(),
        authentication: "none",
        handle: (_request, response) => {
          const [reason, count] = answer();
          const status = reason === undefined ? 200 : 503;
          sendJson(response, status, { status: reason ?? "ok", ...(count > 0 && { ledgers_rolled_back: count }) });
        },
      } satisfies Route,
    ] as const;
  return [probe(LIVE_PATH, () => [undefined, 0]), probe(READY_PATH, () => [notReady(), rolledBack()])];
}

export const HEALTH_PATH = "/health";

/** `GET /health`: what `describe` tells (version, sessions, isolation, …) as JSON, to those who have the token. */
export function healthRoute(describe: () => Readonly<Record<string, unknown>>): Route {
  return {
    method: "GET",
    mediaTypes: new Set(),
    authentication: "token",
    handle: (_request, response) => sendJson(response, 200, describe()),
  };
}
