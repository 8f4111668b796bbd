import type { ServerResponse } from "node:http";
import type { PageGrant, PageGrants } from "../http/page-grant.ts";
import { createToken, digestToken, matchesToken, type TokenDigest } from "../http/token.ts";

interface Page {
  readonly digest: TokenDigest;
  readonly answers: Set<ServerResponse>;
}

/**
 * The tokens of open pages. They live in this process only, so that they end with the server; only their digests are kept.
 * At most `limit` pages are in at once, the oldest gives way.
 */
export class PageTokens implements PageGrants {
  readonly #limit: number;
  #pages: readonly Page[] = [];

  constructor(options: { readonly limit: number }) {
    this.#limit = options.limit;
  }

  /** 256 random bits, base64url. */
  issue(): string {
    const token = createToken();
    const pages = [...this.#pages, { digest: digestToken(token), answers: new Set<ServerResponse>() }];
    this.#pages = pages.slice(-this.#limit);
    for (const page of pages.slice(0, -this.#limit)) cut(page);
    return token;
  }

  /** undefined for a token of no page. Takes the same time whichever token comes. */
  accept(token: string): PageGrant | undefined {
    let found: Page | undefined;
    for (const page of this.#pages) if (matchesToken(token, page.digest)) found = page;
    if (found === undefined) return undefined;
    const page = found;
    return {
      follow: (response) => {
        page.answers.add(response);
        response.once("close", () => page.answers.delete(response));
      },
      revoke: () => {
        this.#pages = this.#pages.filter((each) => each !== page);
        cut(page);
      },
    };
  }

  /** Shuts every page out, also from what it is being told right now. */
  revokeAll(): void {
    const pages = this.#pages;
    this.#pages = [];
    for (const page of pages) cut(page);
  }
}

function cut({ answers }: Page): void {
  for (const response of answers) response.destroy();
}
