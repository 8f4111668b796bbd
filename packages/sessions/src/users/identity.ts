/** Who asks: a person that a verified token names, or the one user of a server with a token of its own. */
export interface Identity {
  /** Keeps sessions, ledgers, blobs and controls apart. Empty: the server has one user. */
  readonly tenant: string;
  /** Within the tenant. Empty: the server has one user. */
  readonly user: string;
  /** May see and end what all users of the tenant do, and switch the tenant's emergency controls. */
  readonly isAdmin: boolean;
  /** When the token that says so ends; milliseconds since the epoch. undefined: never. */
  readonly expires: number | undefined;
  /** Absolute path of where a call belongs that names no session; undefined: the server's default. */
  readonly workspace?: string;
}

/** Of a server with one user: anyone who has its token is that user. */
export const oneUser: Identity = { tenant: "", user: "", isAdmin: true, expires: undefined };

export function isSamePerson(one: Identity, other: Identity): boolean {
  return one.tenant === other.tenant && one.user === other.user;
}

const maxCharacters = 256;

/**
 * Whether a claim can name a tenant or a user: 1 to 256 characters that all can be seen, none around them that is blank.
 * Names are compared character by character: those that only look alike are different people.
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
