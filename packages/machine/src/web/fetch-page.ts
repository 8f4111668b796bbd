import { lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { ToolFailure } from "@gennai/governance/tool-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { isPublicAddress } from "./public-address.ts";
import type { WebConfig } from "./web-config.ts";

export interface FetchedPage {
  /** The final URL, after redirects. */
  readonly url: string;
  readonly mediaType: string;
  readonly text: string;
  readonly truncated: boolean;
}

const maxBytes = 5 * 1024 * 1024;
const maxRedirects = 5;
const timeoutMs = 30_000;

/**
 * Fetches a page that the user's list allows. Every redirect is checked like a first request, and every connection goes to an
 * address that was checked, so that a name cannot mean another address a moment later. Rejects with `ToolFailure`.
 */
export async function fetchPage(
  written: string,
  config: WebConfig,
  { signal }: { readonly signal: AbortSignal },
): Promise<FetchedPage> {
  let url = checkedUrl(written, config);
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    for (let redirects = 0; redirects <= maxRedirects; redirects++) {
      const response = await get(url, config, deadline);
      const { statusCode: status = 0, headers } = response;
      if (status >= 300 && status < 400 && headers.location !== undefined) {
        response.destroy();
        url = checkedUrl(new URL(headers.location, url).href, config);
        continue;
      }
      if (status !== 200) {
        response.destroy();
        throw new ToolFailure("page_not_found", `${url.href} answered ${status}.`, { hint: "Check the address." });
      }
      const mediaType = (headers["content-type"] ?? "text/plain").split(";")[0]?.trim().toLowerCase() ?? "";
      if (!/^text\/|json$|xml$|javascript$|yaml$/.test(mediaType)) {
        response.destroy();
        throw new ToolFailure("not_text", `${url.href} is ${mediaType}, which is not text.`);
      }
      return { url: url.href, mediaType, ...(await readText(response)) };
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ToolFailure) throw error;
    const why = deadline.aborted ? `it took longer than ${timeoutMs / 1000} s` : errorMessage(error);
    throw new ToolFailure("page_unreachable", `${url.href} could not be fetched: ${why}.`, {
      failureClass: deadline.aborted ? "timeout" : "tool_unavailable",
      retryable: true,
      cause: error,
    });
  }
  throw new ToolFailure("page_unreachable", `${written} redirects more than ${maxRedirects} times.`);
}

/** The URL if the user's list allows it. Throws `ToolFailure`. */
export function checkedUrl(written: string, config: WebConfig): URL {
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ToolFailure("invalid_url", `${JSON.stringify(written.slice(0, 200))} is not an http or https URL.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new ToolFailure("invalid_url", "A URL with a user name or password in it is not fetched.");
  }
  if (!config.allows(url)) {
    throw new ToolFailure("host_not_allowed", `${url.host} is not on the user's list of hosts.`, {
      failureClass: "permission_denied",
      hint: "Go on without it, or ask the user to add the host to web.json in Gennai's configuration directory.",
    });
  }
  if (isIP(url.hostname.replace(/^\[|\]$/g, "")) !== 0) assertReachable(url.hostname, url, config);
  return url;
}

function get(url: URL, config: WebConfig, signal: AbortSignal): Promise<IncomingMessage> {
  const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    signal,
    lookup: checkedLookup(url, config),
    agent: false,
    headers: {
      "user-agent": "gennai",
      accept: "text/html, text/markdown, text/plain, application/json;q=0.9, */*;q=0.1",
      "accept-encoding": "identity",
    },
  });
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
    request.end();
  });
}

/** Ensures that the address that is checked is the one that is connected to. */
function checkedLookup(url: URL, config: WebConfig): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "", 0);
      try {
        for (const { address } of addresses) assertReachable(address, url, config);
      } catch (refused) {
        return callback(refused instanceof Error ? refused : new Error(String(refused)), "", 0);
      }
      const [first] = addresses;
      if (options.all === true) return callback(null, addresses);
      return callback(null, first?.address ?? "", first?.family ?? 0);
    });
  };
}

function assertReachable(address: string, url: URL, config: WebConfig): void {
  if (isPublicAddress(address.replace(/^\[|\]$/g, "")) || config.allowsPrivate(url)) return;
  throw new ToolFailure("private_address", `${url.host} is on this machine or on a private network.`, {
    failureClass: "permission_denied",
    hint: "Ask the user to add it to allow_private in web.json, with its port.",
  });
}

async function readText(response: IncomingMessage): Promise<Pick<FetchedPage, "text" | "truncated">> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    const piece: unknown = chunk;
    if (!(piece instanceof Buffer)) continue;
    chunks.push(piece);
    bytes += piece.byteLength;
    if (bytes > maxBytes) {
      response.destroy();
      break;
    }
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, maxBytes));
  return { text, truncated: bytes > maxBytes };
}
