import type { ServerProof } from "@gennai/client/connection/prove-server";
import type { DiscoveryRecord } from "@gennai/protocol/discovery";
import type { ServerProblem } from "./server-problem.ts";

/** A running server of this user, as it announced itself. Its token may be sent only after `proveServer` said yes. */
export interface AnnouncedServer extends Pick<DiscoveryRecord, "url" | "workspace" | "version"> {
  /** undefined: the server needs none. */
  readonly token: string | undefined;
  /** The options that it was started with, if it also serves other workspaces. */
  readonly shared: SharedOptions | undefined;
}

/** How a shared server was started: a window uses it only if it would start its own server the same way. */
type SharedOptions = NonNullable<DiscoveryRecord["shared"]>;

export interface FindRequest {
  /** `gennai.baseUrl`; empty: a server of this machine. */
  readonly baseUrl: string;
  readonly port: number;
  /** Real absolute path. */
  readonly workspace: string;
  /** Options that this window would start a server with; undefined: it would start none that others could share. */
  readonly sharing: (SharedOptions & { readonly version: string }) | undefined;
  /** True if a server may be started that takes another port: then the program on this port is no problem. */
  readonly startsOwn: boolean;
}

export interface FindPorts {
  announced(): Promise<readonly AnnouncedServer[]>;
  storedToken(url: string): Promise<string | undefined>;
  prove(url: string, token: string | undefined): Promise<ServerProof>;
}

export type FoundServer =
  /** The server proved that it knows the token, or it needs none. */
  | {
      readonly type: "found";
      readonly url: string;
      readonly token: string | undefined;
      /** True if it announced itself on this machine, to this user. */
      readonly isHere: boolean;
    }
  | ServerProblem;

/**
 * Finds the server to work with: the one of `baseUrl`, else an announced one of this workspace, else a shared one that was
 * started as this window would, else the program that listens on the port. A token is returned only for a server that proved to
 * know it.
 */
export async function findServer(request: FindRequest, ports: FindPorts): Promise<FoundServer> {
  const everybody = await ports.announced();
  if (request.baseUrl !== "") {
    const url = httpOrigin(request.baseUrl);
    if (url === undefined) return { type: "bad-url", url: request.baseUrl };
    const found = await tryAddress(url, everybody, ports);
    return found.type === "found" ? { ...found, isHere: false } : found;
  }
  // A shared server keeps its options, and its rules may differ from this window's.
  const announced = everybody.filter((server) => server.shared === undefined || isAlike(server, request.sharing));
  const ofWorkspace = announced.filter(({ workspace }) => workspace === request.workspace);
  const shared = announced.filter((server) => server.shared !== undefined);
  for (const server of [...ofWorkspace, ...shared]) {
    const found = await tryTokens(server.url, [{ token: server.token, isHere: true }], ports);
    if (found.type === "found") return found;
  }
  const url = `http://127.0.0.1:${request.port}`;
  const found = await tryAddress(url, announced, ports);
  const isOthers = found.type === "stranger" || found.type === "token-missing";
  if (!request.startsOwn || !isOthers) return found;
  return { type: "not-running", url, reason: "another program listens there" };
}

/** The server at an address, whatever workspace it serves. */
export async function findAt(url: string, ports: FindPorts): Promise<FoundServer> {
  return tryAddress(url, await ports.announced(), ports);
}

async function tryAddress(url: string, announced: readonly AnnouncedServer[], ports: FindPorts): Promise<FoundServer> {
  const sameAddress = announced.filter((server) => isSameAddress(server.url, url));
  if (sameAddress.some(({ token }) => token === undefined))
    return { type: "found", url, token: undefined, isHere: true };
  const stored = await ports.storedToken(url);
  const tokens = sameAddress.map(({ token }) => ({ token, isHere: true }));
  return tryTokens(url, stored === undefined ? tokens : [...tokens, { token: stored, isHere: false }], ports);
}

async function tryTokens(
  url: string,
  tokens: readonly { readonly token: string | undefined; readonly isHere: boolean }[],
  ports: FindPorts,
): Promise<FoundServer> {
  if (tokens.length === 0) {
    const proof = await ports.prove(url, undefined);
    return proof.type === "other-token" ? { type: "token-missing", url } : failure(url, proof);
  }
  let last: FoundServer = { type: "token-missing", url };
  for (const { token, isHere } of tokens) {
    if (token === undefined) return { type: "found", url, token, isHere };
    const proof = await ports.prove(url, token);
    if (proof.type === "proven") return { type: "found", url, token, isHere };
    last = failure(url, proof);
  }
  return last;
}

function failure(url: string, proof: ServerProof): FoundServer {
  switch (proof.type) {
    case "nobody":
      return { type: "not-running", url, reason: proof.reason };
    case "stranger":
      return { type: "stranger", url };
    default:
      return { type: "token-wrong", url };
  }
}

/** undefined: no http or https address. */
function httpOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" ? url.origin : undefined;
}

function isSameAddress(one: string, other: string): boolean {
  const [left, right] = [new URL(one), new URL(other)];
  const host = ({ hostname }: URL) => (["localhost", "[::1]"].includes(hostname) ? "127.0.0.1" : hostname);
  return left.protocol === right.protocol && left.port === right.port && host(left) === host(right);
}

function isAlike({ shared, version }: AnnouncedServer, wanted: FindRequest["sharing"]): boolean {
  if (shared === undefined || wanted === undefined) return false;
  const branches = ({ protectedBranches }: SharedOptions): string => JSON.stringify(protectedBranches.toSorted());
  return version === wanted.version && shared.commands === wanted.commands && branches(shared) === branches(wanted);
}
