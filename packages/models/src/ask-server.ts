import type * as z from "zod";
import type { ModelEndpoint } from "./model-endpoint.ts";

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
  const response = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...headers,
      ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: "manual",
    signal,
  });
  // It may be loading the model, or have too much to do.
  if (response.status >= 500 || response.status === 429) throw new Error(`HTTP ${response.status}`);
  if (!response.ok || response.body === null) throw new UnusableAnswer(`HTTP ${response.status}`, response.status);
  const stream: ReadableStream<Uint8Array> = response.body;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new UnusableAnswer("The answer is too long.", response.status);
    chunks.push(chunk);
  }
  const answer = schema.safeParse(jsonOf(Buffer.concat(chunks).toString("utf8")));
  if (!answer.success) throw new UnusableAnswer("The answer is of another kind.", response.status);
  return answer.data;
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

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
