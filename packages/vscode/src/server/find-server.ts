import type { ServerProof } from "@gennai/client/connection/prove-server";
import type { AnnouncedServer } from "./announced-servers.ts";
import type { ServerProblem } from "./server-problem.ts";

export interface FindRequest {
  /** `gennai.baseUrl`; empty: a server of this machine. */
  readonly baseUrl: string;
  readonly port: number;
  /** Real absolute path. */
  readonly workspace: string;
}

export interface FindPorts {
  announced(): Promise<readonly AnnouncedServer[]>;
  storedToken(url: string): Promise<string | undefined>;
  prove(url: string, token: string | undefined): Promise<ServerProof>;
}

export type FoundServer =
  /** It proved that it knows the token; without one it asks for none. */
  { readonly type: "found"; readonly url: string; readonly token: string | undefined } | ServerProblem;

/**
 * Finds the server to work with: the one of `baseUrl`, else an announced one of this workspace, else whoever listens on the
 * port. A token is named only for a server that proved to know it.
 */
export async function findServer(request: FindRequest, ports: FindPorts): Promise<FoundServer> {
  const announced = await ports.announced();
  if (request.baseUrl !== "") {
    const url = httpOrigin(request.baseUrl);
    return url === undefined ? { type: "bad-url", url: request.baseUrl } : tryAddress(url, announced, ports);
  }
  for (const server of announced.filter(({ workspace }) => workspace === request.workspace)) {
    const found = await tryTokens(server.url, [server.token], ports);
    if (found.type === "found") return found;
  }
  return tryAddress(`http://127.0.0.1:${request.port}`, announced, ports);
}

async function tryAddress(url: string, announced: readonly AnnouncedServer[], ports: FindPorts): Promise<FoundServer> {
  const sameAddress = announced.filter((server) => isSameAddress(server.url, url));
  if (sameAddress.some(({ token }) => token === undefined)) return { type: "found", url, token: undefined };
  const stored = await ports.storedToken(url);
  return tryTokens(url, [...sameAddress.map(({ token }) => token), ...(stored === undefined ? [] : [stored])], ports);
}

async function tryTokens(url: string, tokens: readonly (string | undefined)[], ports: FindPorts): Promise<FoundServer> {
  if (tokens.length === 0) {
    const proof = await ports.prove(url, undefined);
    return proof.type === "other-token" ? { type: "token-missing", url } : failure(url, proof);
  }
  let last: FoundServer = { type: "token-missing", url };
  for (const token of tokens) {
    if (token === undefined) return { type: "found", url, token };
    const proof = await ports.prove(url, token);
    if (proof.type === "proven") return { type: "found", url, token };
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
