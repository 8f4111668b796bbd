import type { Identity } from "@gennai/sessions/session/identity";
import { isName } from "@gennai/sessions/session/identity";
import type { JWTPayload } from "jose";
import { errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import { KeysUnavailable } from "./issuer-keys.ts";

/**
 * - `accepted`: the token is valid, with the identity it names
 * - `refused`: it is invalid, permanently; `reason` is for the server's log, and contains nothing of the token
 * - `undecided`: the issuer's keys are unavailable, so access is refused
 */
export type TokenJudgement =
  | { readonly type: "accepted"; readonly identity: Identity }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "undecided"; readonly reason: string };

export interface TokenVerifierOptions {
  /** Required value of `iss`, compared exactly. */
  readonly issuer: string;
  /** One of them must be in `aud`. */
  readonly audiences: readonly string[];
  readonly keys: JWTVerifyGetKey;
  readonly claims: ClaimNames;
  /** Signature algorithms that count; all with public keys. */
  readonly algorithms?: readonly string[];
  /** Seconds that the issuer's clock and ours may be apart. Default 30. */
  readonly clockSkew?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Every one has a public key to verify with: none that a secret shared with the issuer, or nothing, would do for. */
const publicKeyAlgorithms: readonly string[] = [
  ..."RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(" "),
];

/** Longer than any token that fits into a request's headers beside the others. */
const maxToken = 12 * 1024;

/** Identifies the user of a bearer token: signed by the issuer, for this server, and valid now. */
export class TokenVerifier {
  readonly #options: TokenVerifierOptions;

  /** Throws `TypeError` for an algorithm without public keys. */
  constructor(options: TokenVerifierOptions) {
    const unknown = options.algorithms?.find((name) => !publicKeyAlgorithms.includes(name));
    if (unknown !== undefined) throw new TypeError(`${unknown} is not a signature algorithm with public keys.`);
    this.#options = options;
  }

  /** Why the issuer's keys cannot be had right now; undefined when they can. Asks the issuer where that is needed. */
  async missingKeys(): Promise<string | undefined> {
    try {
      // No issuer has a key of this name: it is looked for only after the keys were fetched.
      await this.#options.keys(
        { alg: "ES256", kid: "gennai-asks-whether-there-are-keys" },
        { payload: "", signature: "" },
      );
    } catch (error) {
      if (error instanceof KeysUnavailable) return error.message;
    }
    return undefined;
  }

  async judge(token: string): Promise<TokenJudgement> {
    const { issuer, audiences, keys, claims, algorithms, clockSkew = 30, now = Date.now } = this.#options;
    if (token.length > maxToken) return { type: "refused", reason: "it is too long" };
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: [...audiences],
        algorithms: [...(algorithms ?? publicKeyAlgorithms)],
        clockTolerance: clockSkew,
        requiredClaims: ["exp"],
        currentDate: new Date(now()),
      });
      const identity = identityOf(payload, claims);
      if (identity === undefined) return { type: "refused", reason: "it does not name a user as this server needs it" };
      // Streams end when calls begin to be refused, not before: anyone who comes back at once would be let in again.
      const expires = identity.expires === undefined ? undefined : identity.expires + clockSkew * 1000;
      return { type: "accepted", identity: { ...identity, expires } };
    } catch (error) {
      if (error instanceof KeysUnavailable) return { type: "undecided", reason: error.message };
      if (error instanceof errors.JOSEError) return { type: "refused", reason: error.code };
      return { type: "refused", reason: "it cannot be read" };
    }
  }
}

/** Names of the claims that identify a user. */
interface ClaimNames {
  readonly user: string;
  /** undefined: all users are of one tenant, `default`. */
  readonly tenant: string | undefined;
  readonly roles: string;
  /** The role of a tenant's admins; undefined: there are none. */
  readonly adminRole: string | undefined;
  /** The role of those who agree as the second person; undefined: there are none. */
  readonly approverRole: string | undefined;
}

/** Tenant of users whose tokens name none, on a server that does not require one. */
const defaultTenant = "default";

/** Undefined if a required claim is missing or invalid. The token must already be verified. */
function identityOf(claims: JWTPayload, names: ClaimNames): Identity | undefined {
  const user = claimAt(claims, names.user);
  const tenant = names.tenant === undefined ? defaultTenant : claimAt(claims, names.tenant);
  if (!isName(user) || !isName(tenant) || claims.exp === undefined) return undefined;
  const has = (role: string | undefined): boolean => hasRole(claimAt(claims, names.roles), role);
  const isAdmin = has(names.adminRole);
  return { tenant, user, isAdmin, isApprover: has(names.approverRole), expires: claims.exp * 1000 };
}

function hasRole(roles: unknown, wanted: string | undefined): boolean {
  if (wanted === undefined) return false;
  if (Array.isArray(roles)) return roles.includes(wanted);
  return typeof roles === "string" && roles.split(" ").includes(wanted);
}

/** A claim by its name, else by a path such as `realm_access.roles`. */
function claimAt(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}
