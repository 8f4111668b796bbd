const prefix = "client-workspace:";

/**
 * The name of a workspace that a client holds, used in the log, the ledger and claims in place of a root's path. No path begins
 * like it, and it is never opened. Two users never share a name, whatever ids they choose.
 * @param user whose workspace it is; empty on a server with one user
 */
export function clientPlace(id: string, user: string): string {
  return `${prefix}${user === "" ? "" : `${encodeURIComponent(user)}/`}${id}`;
}

/** The place for the name under which the user's client knows it; any other text unchanged. */
export function resolvePlace(name: string, user: string): string {
  return isClientPlace(name) ? clientPlace(name.slice(prefix.length), user) : name;
}

export function isClientPlace(place: string): boolean {
  return place.startsWith(prefix);
}
