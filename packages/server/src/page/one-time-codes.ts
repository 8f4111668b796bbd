import { randomBytes } from "node:crypto";
import type { Identity } from "@gennai/sessions/session/identity";
import { digestToken, matchesToken, type TokenDigest } from "../http/token.ts";
import { newestOfEach } from "./page-tokens.ts";

interface Kept {
  readonly digest: TokenDigest;
  readonly identity: Identity;
  /** By the monotonic clock; milliseconds. */
  readonly expires: number;
}

/**
 * Random secrets that are good once and for a while, each in the name of the one who had it made. Only their digests are kept, and
 * at most `limit` of them for one user.
 */
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

  /** 192 random bits, base64url: 32 characters. The user's oldest open code gives way when there are too many. */
  issue(identity: Identity): string {
    const code = randomBytes(24).toString("base64url");
    const expires = this.#now() + this.#lifetimeMs;
    this.#kept = newestOfEach([...this.#open(), { digest: digestToken(code), identity, expires }], this.#limit);
    return code;
  }

  /** The identity of the code, which becomes invalid. Takes the same time for every code. */
  redeem(code: string): Identity | undefined {
    const open = this.#open();
    // Compares with all codes: the time reveals nothing about the position.
    const matches = open.map(({ digest }) => matchesToken(code, digest));
    this.#kept = open.filter((_, index) => matches[index] !== true);
    return open[matches.indexOf(true)]?.identity;
  }

  #open(): readonly Kept[] {
    const now = this.#now();
    return this.#kept.filter(({ expires }) => expires > now);
  }
}
