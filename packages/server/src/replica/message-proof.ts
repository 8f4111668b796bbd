import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";

/** Milliseconds for which a message counts: more than the replicas' clocks are apart. */
const lifetime = 300_000;
/** Numbers that are kept, so that a message counts once. */
const maxSeen = 100_000;

/** The fields of a message, all covered by the proof. */
export interface ProvenMessage {
  /** Destination: a replica's inbox, or the asker, by the number of the request. */
  readonly to: string;
  readonly head: string;
  readonly body: Uint8Array;
}

/**
 * Distinguishes messages of a log's replicas from foreign ones in the same NATS: replicas share a key, and each message is
 * authenticated with it, for one inbox, once, and for a limited time.
 */
export class MessageProofs {
  readonly #key: Buffer;
  readonly #now: () => number;
  readonly #seen = new Map<string, number>();

  /** @param options.now milliseconds since the epoch */
  constructor(key: Buffer, options: { readonly now?: () => number } = {}) {
    this.#key = key;
    this.#now = options.now ?? Date.now;
  }

  /** `<time>.<number>.<HMAC-SHA256, base64url>`; the number is another for each. */
  prove(message: ProvenMessage, number: string = randomUUID()): { readonly proof: string; readonly number: string } {
    const time = String(this.#now());
    return { proof: `${time}.${number}.${this.#mac(message, time, number).toString("base64url")}`, number };
  }

  /** The number of a message that is proven, for the first time; else undefined. */
  check(message: ProvenMessage, proof: string): string | undefined {
    const [time = "", number = "", mac = ""] = proof.split(".");
    const given = Buffer.from(mac, "base64url");
    const wanted = this.#mac(message, time, number);
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return undefined;
    const now = this.#now();
    if (!(Math.abs(now - Number(time)) < lifetime) || this.#seen.has(number)) return undefined;
    this.#seen.set(number, now);
    for (const [old, seenAt] of this.#seen) {
      if (this.#seen.size <= maxSeen && now - seenAt < 2 * lifetime) break;
      this.#seen.delete(old);
    }
    return number;
  }

  #mac({ to, head, body }: ProvenMessage, time: string, number: string): Buffer {
    const parts = [to, time, number, head, createHash("sha256").update(body).digest("hex")];
    return createHmac("sha256", this.#key).update(JSON.stringify(parts)).digest();
  }
}
