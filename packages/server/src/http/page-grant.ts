import type { ServerResponse } from "node:http";
import type { Identity } from "@gennai/sessions/session/identity";

/** The tokens of the pages this server itself serves. */
export interface PageGrants {
  /** undefined for a token of no page. */
  accept(token: string): PageGrant | undefined;
}

/** What one page may do with its token. */
export interface PageGrant {
  /** The user who opened it. */
  readonly identity: Identity;
  /** The answer ends when the token does. */
  follow(response: ServerResponse): void;
  /** Shuts the page out. */
  revoke(): void;
}
