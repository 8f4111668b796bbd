/** Where a program wants to connect to. */
export interface Endpoint {
  /** A name in lower case, or an address in its one form: `registry.example`, `127.0.0.1`, `2001:db8::1`. */
  readonly host: string;
  /** 1 to 65535. */
  readonly port: number;
}

/**
 * A host and a port as written by a user; undefined if the host is neither a plain name nor an address. Numbers that some
 * programs take for addresses (`0x7f.1`, `2130706433`) are neither.
 */
export function endpointOf(host: string, port: number): Endpoint | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const plain = host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "")
    .toLowerCase();
  if (plain.length > 253) return undefined;
  const known = addressForm(plain) ?? (isName(plain) ? plain : undefined);
  return known === undefined ? undefined : { host: known, port };
}

/**
 * The one form in which an address is compared, however it was written; undefined for other text. An IPv6 address that carries
 * an IPv4 one is that one, and the address of every interface is the loopback, to which the system connects then.
 */
export function addressForm(text: string): string | undefined {
  // After `%` comes the interface.
  const [address = ""] = text.toLowerCase().split("%");
  const form = isIPv4(address) ? address : address.includes(":") ? ipv6Form(address) : undefined;
  return form === "0.0.0.0" || form === "::" ? "127.0.0.1" : form;
}

/** Like `endpointOf`, for `HOST:PORT`; an IPv6 address is in brackets. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/.exec(text) ?? [];
  return host === undefined || port === undefined ? undefined : endpointOf(host, Number(port));
}

/** `HOST:PORT`, as people read it. */
export function endpointName({ host, port }: Endpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The command's own machine, under any of its usual names. */
export function isLoopback({ host }: Pick<Endpoint, "host">): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);
}

export function sameEndpoint(one: Endpoint, other: Endpoint): boolean {
  if (one.port !== other.port) return false;
  return one.host === other.host || (isLoopback(one) && isLoopback(other));
}

function isIPv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
}

function ipv6Form(text: string): string | undefined {
  const form = URL.parse(`http://[${text}]/`)?.hostname.slice(1, -1);
  // Mapped (RFC 4291), and as a gateway translates it (RFC 6052).
  const [, high, low] = /^(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(form ?? "") ?? [];
  if (high === undefined || low === undefined) return form;
  return [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255]).join(".");
}

function isName(text: string): boolean {
  const labels = text.split(".");
  // The last one of a name is not a number, or it would be an address to some programs.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "")) return false;
  return labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
}
