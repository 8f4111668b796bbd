import { AsyncLocalStorage } from "node:async_hooks";

/** The caller: a person named by a verified token, or the only user of a server with its own token. */
export interface Identity {
  /** Separates sessions, ledgers, blobs and controls. Empty: the server has one user. */
  readonly tenant: string;
  /** Within the tenant. Empty: the server has one user. */
  readonly user: string;
  /** May see and stop the work of all users of the tenant, and switch the tenant's emergency controls. */
  readonly isAdmin: boolean;
  /** May agree as the second person to what others of the tenant do. */
  readonly isApprover: boolean;
  /** Expiry of the token; milliseconds since the epoch. Undefined: never. */
  readonly expires: number | undefined;
  /** Absolute path of the caller's workspace, for calls without a session; undefined: the server's default. */
  readonly workspace?: string;
}

/** On a server with one user, every holder of its token is that user. */
export const oneUser: Identity = { tenant: "", user: "", isAdmin: true, isApprover: false, expires: undefined };

export function isSamePerson(one: Identity, other: Identity): boolean {
  return one.tenant === other.tenant && one.user === other.user;
}

const maxCharacters = 256;

/**
 * Whether a claim can name a tenant or a user: 1 to 256 visible characters, without spaces at the ends. Names are compared
 * character by character: similar-looking ones are different people.
 */
export function isName(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length > 0 &&
    value.length <= maxCharacters &&
    value.trim() === value &&
    !/[\p{C}\p{Zl}\p{Zp}]/u.test(value)
  );
}

/**
 * The user on whose behalf code runs now. A turn keeps the name of the request that started it, also after the response; timers
 * and signals of the server have no caller.
 */
export class Callers {
  readonly #storage = new AsyncLocalStorage<Identity>();

  run<Result>(identity: Identity, work: () => Result): Result {
    return this.#storage.run(identity, work);
  }

  /** undefined: the server itself. */
  current(): Identity | undefined {
    return this.#storage.getStore();
  }
}
