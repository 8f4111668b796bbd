import { sendJson } from "./http-response.ts";
import type { Route } from "./route.ts";

/** Whether the process works at all. Who restarts it on a wrong answer loses the turns under way. */
const LIVE_PATH = "/livez";
/** Whether to send it new work. */
const READY_PATH = "/readyz";

/** Why a server takes no work just now; undefined: it does. */
export type NotReady = "draining" | "no_contact_with_log" | undefined;

/**
 * `GET /livez` and `GET /readyz`, for what watches over servers and balances between them: 200 `{"status":"ok"}`, and for the
 * second one 503 with the reason. They need no token and tell no more than this.
 */
export function probeRoutes(notReady: () => NotReady): readonly (readonly [string, Route])[] {
  const probe = (read: () => NotReady): Route => ({
    method: "GET",
    mediaTypes: new Set(),
    authentication: "none",
    handle: (_request, response) => {
      const reason = read();
      sendJson(response, reason === undefined ? 200 : 503, { status: reason ?? "ok" });
    },
  });
  return [
    [LIVE_PATH, probe(() => undefined)],
    [READY_PATH, probe(notReady)],
  ];
}
