import { parsedJson } from "@gennai/protocol/json-value";
import type * as z from "zod";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { withPathInPlace } from "./request/path-in-place.ts";
import { sendParts } from "./request/send-parts.ts";

/** The server answered, and has no such answer, now or later. */
export class UnusableAnswer extends Error {
  /** Of HTTP. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export interface JsonRequest {
  readonly url: string;
  readonly signal: AbortSignal;
  /** Sent as JSON. */
  readonly body?: object;
}

/** Bytes that are read of an answer. */
const mostBytes = 8 * 1024 * 1024;

/**
 * What a server of models says about itself. Rejects for anything but such an answer from this very server: the key goes
 * nowhere else. With `UnusableAnswer` when there was another one.
 */
export async function askServer<Answer>(
  schema: z.ZodType<Answer>,
  { apiKey, headers }: Pick<ModelEndpoint, "apiKey" | "headers">,
  { url, signal, body }: JsonRequest,
): Promise<Answer> {
  const text = await textFrom(withPathInPlace(url), body === undefined ? [] : [Buffer.from(JSON.stringify(body))], {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      // The user's own win.
      ...headers,
    },
    signal,
  }).catch((error: unknown) => {
    // Why it was given up, in place of that it was.
    signal.throwIfAborted();
    throw error;
  });
  const answer = schema.safeParse(parsedJson(text));
  if (!answer.success) throw new UnusableAnswer("The answer is of another kind.", 200);
  return answer.data;
}

async function textFrom(...request: Parameters<typeof sendParts>): Promise<string> {
  const { status, body } = await sendParts(...request);
  if (status < 200 || status > 299) {
    body.destroy();
    // It may be loading the model, or have too much to do.
    if (status >= 500 || status === 429) throw new Error(`HTTP ${status}`);
    throw new UnusableAnswer(`HTTP ${status}`, status);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new UnusableAnswer("The answer is too long.", status);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * An address beside the API of the model. Only where that has the server for itself: of a gateway, the key and headers are for
 * what lies below the address. Throws `UnusableAnswer`.
 */
export function atRoot({ baseUrl }: Pick<ModelEndpoint, "baseUrl">, path: string): string {
  if (!/^\/(?:v1\/?)?$/.test(new URL(baseUrl).pathname))
    throw new UnusableAnswer("The address has a path of its own.", 404);
  return new URL(path, baseUrl).href;
}
