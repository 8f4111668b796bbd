import { lookup } from "node:dns/promises";
import { connect, isIP, type Socket } from "node:net";
import type { AllowedEndpoint } from "@gennai/governance/connection";
import { addressForm, type Endpoint, isLoopback } from "@gennai/governance/endpoint";
import { isPublicAddress } from "@gennai/machine/web/public-address";
import { errorMessage } from "@gennai/protocol/error-message";
import { hostPorts, isOwnPort } from "./host-ports.ts";

/** The network that this machine is on. */
export interface Outside {
  /** All addresses of a name. Rejects if there are none. */
  lookup(host: string): Promise<readonly string[]>;
  connect(address: string, port: number): Socket;
  /** The loopback ports among these on which another process of this machine listens. */
  served(among: ReadonlySet<number>): readonly number[];
  /** Whether the address and port are served by this process itself. */
  isOwn(address: string, port: number): boolean;
}

export const theInternet: Outside = {
  lookup: async (host) => (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address),
  connect: (address, port) => connect({ host: address, port, noDelay: true }),
  served: hostPorts,
  isOwn: isOwnPort,
};

/** The addresses of an allowed connection; or why there are none. */
export type WayOut =
  | { readonly type: "open"; readonly addresses: readonly string[] }
  /** The name leads into the machine's own networks, which nobody has agreed to. */
  | { readonly type: "private"; readonly address: string }
  /** The name no longer leads to the private address that was agreed to, but to public ones. */
  | { readonly type: "moved" }
  | { readonly type: "unknown-host"; readonly reason: string };

/**
 * Looks an allowed host up. A person agrees to a name; if it leads to this machine, its network or a service of its cloud, the
 * question has to say so.
 */
export async function wayOut(allowed: AllowedEndpoint, outside: Outside): Promise<WayOut> {
  const { host, address } = allowed;
  if (isLoopback(allowed)) return { type: "open", addresses: host === "::1" ? ["::1"] : ["127.0.0.1", "::1"] };
  // The question named this very address.
  if (isIP(host) !== 0) return { type: "open", addresses: [host] };
  let found: readonly string[];
  try {
    found = (await outside.lookup(host)).map((each) => addressForm(each) ?? each);
  } catch (error) {
    return { type: "unknown-host", reason: errorMessage(error) };
  }
  // Agreeing to a private address covers that address alone.
  if (address !== undefined && found.includes(address)) return { type: "open", addresses: [address] };
  // A malicious name server mixes a private address with public ones.
  const hidden = found.find((each) => !isPublicAddress(each));
  if (hidden !== undefined) return { type: "private", address: hidden };
  if (found.length === 0) return { type: "unknown-host", reason: "The name has no address." };
  return address === undefined ? { type: "open", addresses: found } : { type: "moved" };
}

/** The allowed entry that covers an endpoint. */
export function allowing(wanted: Endpoint, allowed: readonly AllowedEndpoint[]): AllowedEndpoint | undefined {
  return allowed.find(
    (each) => each.port === wanted.port && (each.host === wanted.host || (isLoopback(each) && isLoopback(wanted))),
  );
}
