const prefix = "client-workspace:";

/**
 * The name of a workspace that a client holds, where others have the path of their root: in the log, the ledger and claims.
 * No path begins like it, and none of it is ever opened. Two users never share one, whatever ids they choose.
 * @param user whose it is; empty on a server with one
 */
export function clientPlace(id: string, user: string): string {
  return `${prefix}${user === "" ? "" : `${encodeURIComponent(user)}/`}${id}`;
}

/** The place that a user means by the name under which their client knows it; any other text as it is. */
export function resolvePlace(name: string, user: string): string {
  return isClientPlace(name) ? clientPlace(name.slice(prefix.length), user) : name;
}

export function isClientPlace(place: string): boolean {
  return place.startsWith(prefix);
}
