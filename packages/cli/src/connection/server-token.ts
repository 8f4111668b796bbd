import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { proveServer } from "@gennai/client/connection/prove-server";
import { announcedServers } from "@gennai/client/node/announced-servers";
import { CliError } from "../terminal/cli-error.ts";
import type { Console } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";

/** Where the token of a server is searched. */
export interface TokenSource {
  readonly stateDir: string;
  /** Named by the user. */
  readonly tokenFile?: string;
}

/** The token for a server: from the environment, from a file, or as a server of this user announced it; undefined: none. */
export async function tokenFor(url: string, request: TokenSource, console: Console): Promise<string | undefined> {
  const fromEnvironment = console.environment["GENNAI_AUTH_TOKEN"];
  if (fromEnvironment !== undefined && fromEnvironment !== "") return fromEnvironment;
  if (request.tokenFile !== undefined) return readTokenFile(request.tokenFile, console);
  return announcedToken(url, request);
}

/** The token in the file of `--auth-token-file`. Throws `CliError`. */
export async function readTokenFile(name: string, console: Console): Promise<string> {
  const file = resolve(console.directory, name);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError(`The token file ${file} cannot be read.`, {
      exitCode: exitCode.usage,
      next: ["Check the path given with --auth-token-file."],
      cause: error,
    });
  });
  return text.trim();
}

/** The token that a server of this user announced. */
export async function announcedToken(url: string, request: Pick<TokenSource, "stateDir">): Promise<string | undefined> {
  const { servers } = await announcedServers(request.stateDir, { port: Number(new URL(url).port || "80") });
  return servers.find((server) => sameServer(server.url, url))?.token ?? undefined;
}

function sameServer(one: string, other: string): boolean {
  const [left, right] = [new URL(one), new URL(other)];
  const host = (url: URL) => (url.hostname === "localhost" ? "127.0.0.1" : url.hostname);
  return left.port === right.port && host(left) === host(right);
}

/** Whether the server may see the token. Rejects only when the signal aborts. */
export async function proves(url: string, token: string, signal?: AbortSignal): Promise<boolean> {
  // Over https, the certificate proves who it is before any token is sent; and a server does not know its users' tokens.
  if (new URL(url).protocol === "https:") return true;
  return (await proveServer(url, token, { signal })).type === "proven";
}
