import type { IncomingMessage } from "node:http";
import type { BodyReader, ComparedMeaning, RequestMeaning } from "./added-login.ts";

/** The part of a request's body that was read, and what it says. The rest, if any, is still to come. */
export interface HeldBody {
  readonly meaning: RequestMeaning | ComparedMeaning;
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

/** Bytes of bodies that are held for one run. */
export const maxHeld = 128 * 1024 * 1024;

/** Bytes that a part of a body takes at least, however short it is. */
export const leastHeld = 512;

/** Counts what the requests of a run hold. */
export class HeldBytes {
  #count = 0;

  /** For one request; what it holds is given back when this is disposed. */
  claim(): HeldClaim {
    let own = 0;
    return {
      take: (bytes, most) => {
        own += bytes;
        this.#count += bytes;
        return own <= most && this.#count <= maxHeld;
      },
      [Symbol.dispose]: () => {
        this.#count -= own;
      },
    };
  }
}

export interface HeldClaim extends Disposable {
  /** Takes bytes more. @returns whether they may be held @param most of this request */
  take(bytes: number, most: number): boolean;
}

/** Reads as much of a request's body as is needed to know what it does. Rejects if the run hangs up. */
export async function heldBody(
  incoming: IncomingMessage,
  { most, early, read }: BodyReader,
  claim: HeldClaim,
): Promise<HeldBody> {
  const chunks: Buffer[] = [];
  // The rest goes on to the host.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    const isFull = !claim.take(Math.max(chunk.length, leastHeld), most);
    if (early === true) {
      const bytes = Buffer.concat(chunks);
      const meaning = read(bytes, false);
      if (meaning !== undefined) return { meaning, bytes, isWhole: false };
    }
    if (isFull) return { meaning: tooLong, bytes: chunk, isWhole: false };
  }
  const bytes = Buffer.concat(chunks);
  return { meaning: read(bytes, true) ?? unclear, bytes, isWhole: true };
}

const tooLong: RequestMeaning = { type: "refused", why: "Its body is too long to see what it would do." };
const unclear: RequestMeaning = { type: "refused", why: "Its body ends before it says what it would do." };
