import type { ServerResponse } from "node:http";
import { type Identity, isSamePerson } from "@gennai/sessions/session/identity";
import type { PageGrant, PageGrants } from "../http/route.ts";
import { createToken, digestToken, matchesToken, type TokenDigest } from "../http/token.ts";

interface Page {
  readonly digest: TokenDigest;
  readonly identity: Identity;
  /** The remembered browser that opened it; undefined: a link did. */
  readonly deviceId: string | undefined;
  readonly answers: Set<ServerResponse>;
}

/**
 * The tokens of open pages. They live in this process only, so that they end with the server; only their digests are kept.
 * At most `limit` pages of one user are in at once, the oldest gives way. No page outlives the token it was opened with.
 */
export class PageTokens implements PageGrants {
  readonly #limit: number;
  #pages: readonly Page[] = [];

  constructor(options: { readonly limit: number }) {
    this.#limit = options.limit;
  }

  /** 256 random bits, base64url. */
  issue(identity: Identity, deviceId?: string): string {
    const token = createToken();
    const page = { digest: digestToken(token), identity, deviceId, answers: new Set<ServerResponse>() };
    const pages = [...this.#current(), page];
    this.#keep(newestOfEach(pages, this.#limit));
    return token;
  }

  /** Undefined for an unknown token. Takes the same time for every token. */
  accept(token: string): PageGrant | undefined {
    let found: Page | undefined;
    for (const page of this.#current()) if (matchesToken(token, page.digest)) found = page;
    if (found === undefined) return undefined;
    const page = found;
    return {
      identity: page.identity,
      follow: (response) => {
        page.answers.add(response);
        response.once("close", () => page.answers.delete(response));
      },
      revoke: () => {
        this.#keep(this.#pages.filter((each) => each !== page));
      },
    };
  }

  /** Revokes every page of a user, including running streams. */
  revokeAll(identity: Identity): void {
    this.#keep(this.#pages.filter((page) => !isSamePerson(page.identity, identity)));
  }

  /** Revokes the pages that a remembered browser opened. @param id undefined: of all */
  revokeDevice(id?: string): void {
    this.#keep(this.#pages.filter(({ deviceId }) => deviceId === undefined || (id !== undefined && deviceId !== id)));
  }

  #current(): readonly Page[] {
    return this.#pages.filter(({ identity }) => identity.expires === undefined || identity.expires > Date.now());
  }

  #keep(pages: readonly Page[]): void {
    const stay = new Set(pages);
    const before = this.#pages;
    this.#pages = pages;
    for (const page of before) if (!stay.has(page)) cut(page);
  }
}

function cut({ answers }: Page): void {
  for (const response of answers) response.destroy();
}

/**
 * Keeps at most `limit` entries per person, the newest: no one displaces another's entries. Input and result are oldest first.
 */
export function newestOfEach<Kept extends { readonly identity: Identity }>(
  kept: readonly Kept[],
  limit: number,
): readonly Kept[] {
  const last = kept.at(-1);
  if (last === undefined) return kept;
  const theirs = kept.filter(({ identity }) => isSamePerson(identity, last.identity));
  const gone = new Set(theirs.slice(0, -limit));
  return kept.filter((each) => !gone.has(each));
}
