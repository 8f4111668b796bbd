import type { IncomingMessage } from "node:http";
import type { BodyReader, RequestMeaning } from "./added-login.ts";

/** The part of a request's body that was read, and what it says. The rest, if any, is still to come. */
export interface HeldBody {
  readonly meaning: RequestMeaning;
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** Reads as much of a request's body as is needed to know what it does. Rejects if the run hangs up. */
export async function heldBody(incoming: IncomingMessage, { most, early, read }: BodyReader): Promise<HeldBody> {
  const chunks: Buffer[] = [];
  let size = 0;
  // The rest goes on to the host.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (early === true) {
      const bytes = Buffer.concat(chunks);
      const meaning = read(bytes, false);
      if (meaning !== undefined) return { meaning, bytes, isWhole: false };
    }
    if (size > most) return { meaning: tooLong, bytes: chunk, isWhole: false };
  }
  const bytes = Buffer.concat(chunks);
  return { meaning: read(bytes, true) ?? unclear, bytes, isWhole: true };
}

const tooLong: RequestMeaning = { type: "refused", why: "Its body is too long to see what it would do." };
const unclear: RequestMeaning = { type: "refused", why: "Its body ends before it says what it would do." };
