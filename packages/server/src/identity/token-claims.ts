import { type Identity, isName } from "@gennai/sessions/session/identity";
import type { JWTPayload } from "jose";

/** Names of the claims that identify a user. */
export interface ClaimNames {
  readonly user: string;
  /** undefined: all users are of one tenant, `default`. */
  readonly tenant: string | undefined;
  readonly roles: string;
  /** The role of a tenant's admins; undefined: there are none. */
  readonly adminRole: string | undefined;
}

/** Tenant of users whose tokens name none, on a server that does not require one. */
const defaultTenant = "default";

/** Undefined if a required claim is missing or invalid. The token must already be verified. */
export function identityOf(claims: JWTPayload, names: ClaimNames): Identity | undefined {
  const user = claimAt(claims, names.user);
  const tenant = names.tenant === undefined ? defaultTenant : claimAt(claims, names.tenant);
  if (!isName(user) || !isName(tenant) || claims.exp === undefined) return undefined;
  return { tenant, user, isAdmin: hasRole(claimAt(claims, names.roles), names.adminRole), expires: claims.exp * 1000 };
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
