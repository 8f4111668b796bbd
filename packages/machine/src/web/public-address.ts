import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Addresses that lead to this machine, to its network, or nowhere (RFC 6890 and its registries). */
const special = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  special.addSubnet(network, bits, "ipv4");
}

/** The only part of IPv6 that is routed globally, and those parts of it that carry other addresses or are for documentation. */
const routed = new BlockList();
routed.addSubnet("2000::", 3, "ipv6");
const carriers = new BlockList();
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const) {
  carriers.addSubnet(network, bits, "ipv6");
}

/** True for an address on the public internet; false for anything that is not an address. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, "ipv4");
  if (!isIPv6(address)) return false;
  return routed.check(address, "ipv6") && !carriers.check(address, "ipv6");
}
