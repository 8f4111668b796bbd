import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { pipeline, Readable } from "node:stream";
import { createBrotliDecompress, createInflate, createUnzip } from "node:zlib";

/**
 * POSTs a body that lies in parts. The same as `fetch`, which would copy the whole body several times: with a long
 * conversation that is most of what a request costs. A redirection is an answer like any other: it is not followed.
 */
export async function postParts(
  url: string,
  parts: readonly Uint8Array[],
  options: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<Response> {
  const message = await send(url, parts, options);
  const status = message.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values] of Object.entries(message.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  const read = unpacked(message, headers);
  return new Response(bodiless.has(status) ? null : webStream(read), { status, headers });
}

/** Nobody is asked to pack an answer, and some servers in between do so all the same. */
function unpacked(message: IncomingMessage, headers: Headers): Readable {
  const packing = headers.get("content-encoding")?.trim().toLowerCase() ?? "";
  const unpack = unpackers[packing]?.();
  if (unpack === undefined) return message;
  headers.delete("content-encoding");
  headers.delete("content-length");
  // What goes wrong is told to anyone who reads.
  return pipeline(message, unpack, () => undefined);
}

const unpackers: Readonly<Partial<Record<string, () => NodeJS.ReadWriteStream & Readable>>> = {
  gzip: createUnzip,
  "x-gzip": createUnzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

async function send(
  url: string,
  parts: readonly Uint8Array[],
  { headers, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
  isRepeated = false,
): Promise<IncomingMessage> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const start = new URL(url).protocol === "https:" ? httpsRequest : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = start(url, {
    method: "POST",
    headers: { ...headers, "content-length": length },
    signal,
  });
  request.once("response", resolve);
  // Node loads all of `fetch` for this class, which takes a while: best done while the answer is waited for.
  request.once("finish", () => void globalThis.Response);
  // Stays: an abort is told here also when the answer has begun.
  request.on("error", reject);
  request.cork();
  for (const part of parts) request.write(part);
  request.end();
  try {
    return await promise;
  } catch (error) {
    // The server closed a kept connection just when it was used again. Asking a model twice changes nothing.
    if (isRepeated || signal.aborted || !request.reusedSocket || !isReset(error)) throw error;
    return send(url, parts, { headers, signal }, true);
  }
}

function isReset(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function webStream(message: Readable): ReadableStream<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = Readable.prototype[Symbol.asyncIterator].call(message);
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel() {
      message.destroy();
    },
  });
}
