import { sendJson } from "../http-response.ts";
import type { Route } from "../route.ts";

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
