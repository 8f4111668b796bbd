import type { IncomingMessage } from "node:http";
import { parsedJson } from "@gennai/protocol/json-value";
import type { z } from "zod";

const bodyLimit = 1024;

/** The JSON in a body of at most 1 KiB; undefined for more, and for what is not JSON of that shape. */
export async function readSmallJson<T>(message: IncomingMessage, schema: z.ZodType<T>): Promise<T | undefined> {
  return schema.safeParse(parsedJson((await readBody(message)) ?? "")).data;
}

async function readBody(message: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const incoming: AsyncIterable<Buffer> = message.iterator({ destroyOnReturn: false });
  for await (const bytes of incoming) {
    size += bytes.byteLength;
    if (size > bodyLimit) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString("utf8");
}
