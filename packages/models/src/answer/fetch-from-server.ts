import { ModelError } from "@gennai/agent/model";
import { withPathInPlace } from "../request/path-in-place.ts";
import { webStream } from "./answer-bytes.ts";
import { type NeededEvents, neededEvents } from "./needed-events.ts";
import { readableAnswer } from "./readable-answer.ts";

/**
 * `fetch` for requests that hold a key: to the server that was named, and nowhere else. Throws `ModelError` for a redirection.
 * @param needed of an answer, where its library takes no others
 */
export function fetchFromServer(needed?: NeededEvents): typeof fetch {
  return (asked, request) => fetchNeeded(needed, asked, request);
}

async function fetchNeeded(
  needed: NeededEvents | undefined,
  ...[asked, request]: Parameters<typeof fetch>
): Promise<Response> {
  const url = withPathInPlace(asked instanceof Request ? asked.url : asked.toString());
  const response = await fetch(asked instanceof Request ? asked : url, { ...request, redirect: "manual" });
  const { headers, body } = response;
  if (redirections.has(response.status)) {
    void body?.cancel();
    throw redirected(response.status, headers.get("location"), url);
  }
  if (body === null) return response;
  const { status, bytes } = await readableAnswer({ status: response.status, bytes: body.getReader() }, url);
  const statusText = status === response.status ? response.statusText : "";
  const read = status >= 200 && status <= 299 ? neededEvents(bytes, needed) : bytes;
  return new Response(webStream(read), { status, statusText, headers });
}

/**
 * That a request is sent elsewhere, which is not followed: `fetch` takes only `authorization` out of what it sends on, so keys in other
 * headers, and the conversation, would go to whomever the answer names.
 */
export function redirected(status: number, location: string | null, url: string): ModelError {
  return new ModelError(
    "not_configured",
    `${new URL(url).origin} sends requests on to ${shownTarget(location, url)} (HTTP ${status}). This one was not sent there: it holds the conversation and the key.`,
    { hint: "If that is the right server, give its address; otherwise check the one you gave." },
  );
}

export const redirections: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Without credentials and query, which may repeat what was sent. */
function shownTarget(location: string | null, url: string): string {
  if (location === null || !URL.canParse(location, url)) return "an invalid address";
  const { protocol, host, pathname } = new URL(location, url);
  return `${protocol}//${host}${pathname}`.slice(0, 200);
}
