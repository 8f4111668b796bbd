/** Where a push goes. */
export interface GitAddress {
  readonly scheme: "ssh" | "https" | "http";
  readonly host: string;
  /** The port in the address; for ssh, the user's settings may name another. */
  readonly port: number | undefined;
  readonly user: string | undefined;
  /** The path after the host, e.g. `/me/r.git`, or for ssh also `me/r.git`. */
  readonly path: string;
}

export type ReadAddress = GitAddress | "local" | "unknown";

/**
 * Parses an address as git does; `local` for a directory. Drops a password, because the user may not have written the address.
 */
export function readGitAddress(text: string): ReadAddress {
  if (/\p{Cc}/u.test(text)) return "unknown";
  const [, scheme, rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(text) ?? [];
  if (scheme === undefined) {
    const [, who, path = ""] = /^([^/:]+|[^/:]*\[[0-9a-f:]+\]):(.*)$/i.exec(text) ?? [];
    if (who === undefined) return /::/.test(text) ? "unknown" : "local";
    if (path.startsWith(":")) return "unknown";
    const [, user, host = who] = /^(?:([^@]*)@)?(.*)$/.exec(who) ?? [];
    return checked({ scheme: "ssh", host: host.replace(/^\[|\]$/g, ""), port: undefined, user, path });
  }
  if (scheme.toLowerCase() === "file") return "local";
  const kind = kinds.get(scheme.toLowerCase());
  const [, login, host = "", port, path = "/"] =
    /^(?:([^/@]*)@)?(\[[0-9a-f:]+\]|[^/:@]+)(?::(\d+))?(\/.*)?$/i.exec(rest) ?? [];
  if (kind === undefined) return "unknown";
  const user = login?.split(":", 1)[0];
  return checked({
    scheme: kind,
    host: host.replace(/^\[|\]$/g, ""),
    port: port === undefined ? undefined : Number(port),
    user: user === "" ? undefined : user,
    path,
  });
}

/** The address in git's syntax. */
export function gitAddressText({ scheme, host, port, user, path }: GitAddress): string {
  const at = user === undefined ? "" : `${user}@`;
  const shown = host.includes(":") ? `[${host}]` : host;
  if (scheme === "ssh" && !path.startsWith("/")) return `${at}${shown}:${path}`;
  return `${scheme}://${at}${shown}${port === undefined ? "" : `:${port}`}${path}`;
}

/** The host as git's settings and helpers name it: with its port, and IPv6 in brackets. */
export function credentialHost({ host, port }: Pick<GitAddress, "host" | "port">): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return port === undefined ? shown : `${shown}:${port}`;
}

const kinds: ReadonlyMap<string, GitAddress["scheme"]> = new Map([
  ["ssh", "ssh"],
  ["git+ssh", "ssh"],
  ["ssh+git", "ssh"],
  ["https", "https"],
  ["http", "http"],
]);

/** Refuses an address that a program could mistake, e.g. for an option. */
function checked(address: GitAddress): ReadAddress {
  const { host, user, path, port } = address;
  const isSafe =
    /^(?:[a-z0-9]|[a-z0-9_][a-z0-9._-]*|[0-9a-f:]+)$/i.test(host) &&
    (user === undefined || /^[\w][\w.+@%-]*$/.test(user)) &&
    (port === undefined || (port > 0 && port < 65_536)) &&
    /^[\w/~.][\p{L}\p{M}\w/~.%+@:,=-]*$/u.test(path);
  return isSafe ? address : "unknown";
}
