import { ModelError } from "@gennai/agent/model";
import { readableAnswer } from "./readable-answer.ts";

/** `fetch` for requests that hold a key: to the server that was named, and nowhere else. Throws `ModelError` for a redirection. */
export const fetchFromServer: typeof fetch = async (url, request) =>
  ownAnswer(await fetch(url, { ...request, redirect: "manual" }), url instanceof Request ? url.url : url.toString());

/**
 * The answer, as it can be read, unless it sends the request elsewhere. `fetch` takes only `authorization` out of what it sends on: keys in other
 * headers, and the conversation, would go to whomever the answer names. Throws `ModelError` (`not_configured`, `bad_response`).
 */
export async function ownAnswer(response: Response, url: string): Promise<Response> {
  if (!redirections.has(response.status)) return readableAnswer(response, url);
  void response.body?.cancel();
  throw new ModelError(
    "not_configured",
    `${new URL(url).origin} sends requests on to ${shownTarget(response.headers.get("location"), url)} (HTTP ${response.status}). This one was not sent there: it holds the conversation and the key.`,
    { hint: "If that is the right server, give its address; otherwise check the one you gave." },
  );
}

const redirections: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Without credentials and query, which may repeat what was sent. */
function shownTarget(location: string | null, url: string): string {
  if (location === null || !URL.canParse(location, url)) return "an invalid address";
  const { protocol, host, pathname } = new URL(location, url);
  return `${protocol}//${host}${pathname}`.slice(0, 200);
}
