import { ExpectedError } from "@gennai/machine/expected-error";

/** Where a log in NATS is: as `--log` names it. */
export interface LogAddress {
  /** `host:port`, at least one. */
  readonly servers: readonly string[];
  /** Begins the names of everything this log uses, so that several can live in one NATS. */
  readonly namespace: string;
  readonly tls: boolean;
  /** In the address, or in `GENNAI_NATS_USER` and `GENNAI_NATS_PASSWORD`. */
  readonly user?: string;
  readonly password?: string;
}

/** `--log` names no log. The message says what to write instead. */
class BadLogAddress extends ExpectedError {
  override readonly name = "BadLogAddress";
  readonly code = "bad_log_address";
  readonly isWrongInput = true;
}

/** What a connection to it needs to know. */
export function connectionOptions({ servers, tls, user, password }: LogAddress) {
  return {
    servers: [...servers],
    ...(tls ? { tls: {} } : {}),
    ...(user === undefined ? {} : { user, pass: password ?? "" }),
  };
}

/**
 * Reads `nats://host:port[,host:port…][/namespace]`; `tls://` for an encrypted connection, `user:password@` before the first
 * host. Throws `BadLogAddress`.
 */
export function parseLogAddress(
  text: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): LogAddress {
  const match = /^(nats|tls):\/\/(?:([^:@/]+):([^@/]+)@)?([^/@]+)(?:\/([A-Za-z0-9_-]{1,32}))?$/.exec(text);
  const servers = (match?.[4] ?? "").split(",").map((server) => (/:\d+$/.test(server) ? server : `${server}:4222`));
  if (match === null || !servers.every((server) => /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+):\d{1,5}$/.test(server))) {
    throw new BadLogAddress("--log takes nats://host:port[,host:port…][/name], e.g. nats://a:4222,b:4222,c:4222.", {
      hint: "Leave out --log to keep everything on this machine.",
    });
  }
  const user = match[2] === undefined ? environment["GENNAI_NATS_USER"] : decodeURIComponent(match[2]);
  const password = match[3] === undefined ? environment["GENNAI_NATS_PASSWORD"] : decodeURIComponent(match[3]);
  return {
    servers,
    namespace: match[5] ?? "gennai",
    tls: match[1] === "tls",
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
  };
}
