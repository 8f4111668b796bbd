import { randomBytes } from "node:crypto";
import { digestToken, matchesToken, type TokenDigest } from "../http/token.ts";

interface Kept {
  readonly digest: TokenDigest;
  /** By the monotonic clock; milliseconds. */
  readonly expires: number;
}

/** Random secrets that are good once and for a while. Only their digests are kept, and at most `limit` of them. */
export class OneTimeCodes {
  readonly #limit: number;
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  #kept: readonly Kept[] = [];

  /** @param options.now monotonic; milliseconds */
  constructor(options: { readonly lifetimeMs: number; readonly limit: number; readonly now: () => number }) {
    this.#lifetimeMs = options.lifetimeMs;
    this.#limit = options.limit;
    this.#now = options.now;
  }

  /** 192 random bits, base64url: 32 characters. The oldest open code gives way when there are too many. */
  issue(): string {
    const code = randomBytes(24).toString("base64url");
    const expires = this.#now() + this.#lifetimeMs;
    this.#kept = [...this.#open(), { digest: digestToken(code), expires }].slice(-this.#limit);
    return code;
  }

  /** True once for each code that is open. Takes the same time whichever code comes. */
  redeem(code: string): boolean {
    const open = this.#open();
    // Every one is compared: how long it takes says nothing about where it stands.
    const matches = open.map(({ digest }) => matchesToken(code, digest));
    this.#kept = open.filter((_, index) => matches[index] !== true);
    return matches.includes(true);
  }

  #open(): readonly Kept[] {
    const now = this.#now();
    return this.#kept.filter(({ expires }) => expires > now);
  }
}
