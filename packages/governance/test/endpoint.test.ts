import { expect, test } from "vitest";
import { endpointName, endpointOf, isLoopback, parseEndpoint } from "#endpoint";

test.for([
  ["registry.example:443", "registry.example:443"],
  ["Registry.EXAMPLE.:443", "registry.example:443"],
  ["127.0.0.1:5432", "127.0.0.1:5432"],
  ["[::1]:80", "[::1]:80"],
  ["xn--bcher-kva.example:1", "xn--bcher-kva.example:1"],
  ["_sip.example:5060", "_sip.example:5060"],
  ["0.0.0.0:80", "127.0.0.1:80"],
  ["[::]:80", "127.0.0.1:80"],
  ["[0:0:0:0:0:0:0:1]:80", "[::1]:80"],
  ["[::ffff:7f00:1]:80", "127.0.0.1:80"],
  ["[::FFFF:127.0.0.1]:80", "127.0.0.1:80"],
  ["[0:0:0:0:0:ffff:a9fe:a9fe]:80", "169.254.169.254:80"],
  ["[64:ff9b::a9fe:a9fe]:80", "169.254.169.254:80"],
  ["[::ffff:0:0]:80", "127.0.0.1:80"],
  ["[fd00:0ec2:0::254]:80", "[fd00:ec2::254]:80"],
  ["[2001:DB8:0:0::1]:80", "[2001:db8::1]:80"],
] as const)("%s is %s", ([text, name]) => {
  const endpoint = parseEndpoint(text);
  expect(endpoint && endpointName(endpoint)).toBe(name);
});

test.for([
  ["", "no host"],
  ["a", "no port"],
  ["a:0", "no such port"],
  ["a:65536", "no such port"],
  ["a:1.5", "no number"],
  ["0x7f.1:80", "an address to some programs"],
  ["2130706433:80", "an address to some programs"],
  ["127.1:80", "an address to some programs"],
  ["0177.0.0.1:80", "an address to some programs"],
  ["a b:80", "two words"],
  ["a@b:80", "a user"],
  ["a\r\nHost: b:80", "a line end"],
  ["bücher.example:80", "a name that is written in several ways"],
  [`${"a".repeat(64)}.example:80`, "a label too long"],
  [`${"a.".repeat(130)}a:80`, "too long"],
  ["..:80", "empty labels"],
  ["[1::2::3]:80", "no address"],
  ["[12345::1]:80", "no address"],
  ["[::1.2.3.256]:80", "no address"],
] as const)("%s is none: %s", ([text]) => {
  expect(parseEndpoint(text)).toBeUndefined();
});

test("this machine is known by all its names", () => {
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.8.9.1", "::1"])
    expect(isLoopback({ host })).toBe(true);
  for (const host of ["localhost.example", "127.0.0.1.example", "128.0.0.1"]) expect(isLoopback({ host })).toBe(false);
  expect(endpointOf("999.1.1.1", 80)).toBeUndefined();
});
