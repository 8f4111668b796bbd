import { resolve } from "node:path";
import { type AdmissionLimits, defaultLimits } from "@gennai/server/admission/limits";
import type { ServerOptions } from "@gennai/server/tenants/server-options";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";

/** Options of `serve` for access, encryption, and how much of the server each user may take. */
export interface SecurityFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** A proxy before this server ends TLS. */
  readonly behindProxy?: boolean;
  /** `oidc`, or `token`; false: `--no-auth`. */
  readonly auth?: string | false;
  readonly issuer?: string;
  readonly audience?: readonly string[];
  /** URL or file of the issuer's keys. */
  readonly jwks?: string;
  readonly workspaceRoot?: string;
  readonly userClaim?: string;
  readonly tenantClaim?: string;
  readonly rolesClaim?: string;
  readonly adminRole?: string;
  readonly approverRole?: string;
  readonly maxCallsPerSecond?: string;
  readonly maxTurnsPerUser?: string;
  readonly maxTurnsPerTenant?: string;
  readonly maxTurns?: string;
  readonly maxSessionsPerUser?: string;
  readonly maxSessions?: string;
  readonly maxStreamsPerUser?: string;
  readonly maxTenants?: string;
  readonly slowReader?: string;
  readonly treeWait?: string;
}

const ofUsers = ["issuer", "audience", "jwks", "workspaceRoot", "tenantClaim", "adminRole", "approverRole"] as const;

/** Throws `CliError` if other machines could read what is sent. */
export function refuseUnencrypted(
  flags: SecurityFlags,
  place: { readonly host: string; readonly isLoopback: boolean },
): void {
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
    throw usageError("A certificate needs its key.", "Give both: --tls-cert FILE --tls-key FILE");
  }
  if (flags.tlsCert !== undefined && flags.behindProxy === true) {
    throw usageError(
      "--behind-proxy says that TLS ends before this server.",
      "Leave out --behind-proxy or --tls-cert.",
    );
  }
  if (place.isLoopback || flags.tlsCert !== undefined || flags.behindProxy === true) return;
  throw usageError(
    `${place.host} can be reached by other machines, and nothing would be encrypted, tokens included.`,
    "Give --tls-cert and --tls-key, or --behind-proxy where a proxy before this server encrypts.",
  );
}

/** undefined without a certificate. */
export function tlsOption({ tlsCert, tlsKey }: SecurityFlags, { directory }: Console): ServerOptions["tls"] {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  return { cert: resolve(directory, tlsCert), key: resolve(directory, tlsKey) };
}

/** undefined on a server with one user. Throws `CliError`. */
export function usersOption(flags: SecurityFlags, console: Console): ServerOptions["users"] {
  const { auth } = flags;
  if (auth === undefined || auth === "token" || auth === false) {
    const stray = ofUsers.find((name) => flags[name] !== undefined);
    if (stray === undefined) return undefined;
    throw usageError(`--${dashed(stray)} is for servers of many users.`, "Add --auth oidc.");
  }
  if (auth !== "oidc") {
    throw usageError(
      `--auth takes token or oidc, not ${JSON.stringify(auth)}.`,
      "Leave it out for a server of your own.",
    );
  }
  const { issuer, audience, workspaceRoot, jwks } = flags;
  if (issuer === undefined || audience === undefined || workspaceRoot === undefined) {
    throw usageError(
      "--auth oidc needs --issuer, --audience and --workspace-root.",
      "For example: --auth oidc --issuer https://login.example --audience gennai --workspace-root /srv/workspaces",
    );
  }
  return {
    workspaceRoot: resolve(console.directory, workspaceRoot),
    issuer,
    audiences: audience,
    jwks: jwks === undefined || /^https?:/.test(jwks) ? jwks : resolve(console.directory, jwks),
    claims: {
      user: flags.userClaim ?? "sub",
      tenant: flags.tenantClaim,
      roles: flags.rolesClaim ?? "roles",
      adminRole: flags.adminRole,
      approverRole: flags.approverRole,
    },
  };
}

/** The default limits, changed by options. Throws `CliError`. */
export function limitsOption(flags: SecurityFlags): AdmissionLimits {
  const given = (name: keyof SecurityFlags & `${"max" | "slow" | "tree"}${string}`, otherwise: number): number => {
    const text = flags[name];
    return text === undefined ? otherwise : positive(text, name);
  };
  return {
    ...defaultLimits,
    callsPerSecond: given("maxCallsPerSecond", defaultLimits.callsPerSecond),
    turnsPerUser: given("maxTurnsPerUser", defaultLimits.turnsPerUser),
    turnsPerTenant: given("maxTurnsPerTenant", defaultLimits.turnsPerTenant),
    turns: given("maxTurns", defaultLimits.turns),
    sessionsPerUser: given("maxSessionsPerUser", defaultLimits.sessionsPerUser),
    sessions: given("maxSessions", defaultLimits.sessions),
    streamsPerUser: given("maxStreamsPerUser", defaultLimits.streamsPerUser),
    tenants: given("maxTenants", defaultLimits.tenants),
    treeWaitMs: given("treeWait", defaultLimits.treeWaitMs / 1000) * 1000,
    slowReaderMs: given("slowReader", defaultLimits.slowReaderMs / 1000) * 1000,
  };
}

function positive(text: string, flag: string): number {
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (number > 0) return number;
  throw usageError(
    `--${dashed(flag)} takes a number of 1 or more, not ${JSON.stringify(text)}.`,
    "Leave it out for the default.",
  );
}

function dashed(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
