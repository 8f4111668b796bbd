import type { IncomingMessage } from "node:http";
import { ServiceError } from "@gennai/machine/service-error";

/** Largest body of a request, in bytes. */
export const bodyLimit = 1024 * 1024;

/** The body as text. Throws `ServiceError` if it is too large or no UTF-8; the rest is not read then. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const tooLarge = new ServiceError("resource_exhausted", `A body has at most ${bodyLimit} bytes.`);
  if (Number(request.headers["content-length"] ?? 0) > bodyLimit) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError("A request body comes as bytes.");
    size += chunk.byteLength;
    if (size > bodyLimit) throw tooLarge;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch (cause) {
    throw new ServiceError("invalid_argument", "The body is not UTF-8 text.", { cause });
  }
}
