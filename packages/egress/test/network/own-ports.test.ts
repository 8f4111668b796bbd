import { networkInterfaces } from "node:os";
import type { AllowedEndpoint } from "@gennai/governance/connection";
import { addressForm } from "@gennai/governance/endpoint";
import { expect, test } from "vitest";
import { theInternet } from "#network/way-out";
import { AskedProxy } from "./asked-proxy.ts";
import { lineServer } from "./watched-fixture.ts";

const here = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal }) => !internal)?.address;

const spellings = [
  ...["127.0.0.1", "0.0.0.0", "127.9.9.9", "localhost", "a.localhost", "[::1]", "[::]", "[::ffff:7f00:1]"],
  ...["[::ffff:127.0.0.1]", "[::FFFF:0:0]", "[64:ff9b::7f00:1]", "[0:0:0:0:0:0:0:1]", "name.example"],
  ...(here === undefined ? [] : [here.includes(":") ? `[${here}]` : here]),
];

/** Tries each of them in both ways. @returns what was let through */
async function tried(hosts: readonly string[], port: number, leads: string, allowed: readonly AllowedEndpoint[]) {
  using proxy = await AskedProxy.open({ ...theInternet, lookup: async () => [leads] }, allowed);
  for (const host of hosts) {
    await proxy.get(`http://${host}:${port}/stolen`);
    await proxy.send(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: x\r\n\r\nstolen\r\n`);
  }
  return proxy.connections.filter(({ state }) => state === "allowed");
}

test("a port of this process is reached under no spelling of its address, also when that was let through", async () => {
  const server = await lineServer("::");
  const { port } = server.address() as { port: number };
  const allowed = spellings.map((host) => ({ host: host.replace(/^\[|\]$/g, ""), port }));
  expect(await tried(spellings, port, "127.0.0.1", [])).toEqual([]);
  expect(await tried(spellings, port, "127.0.0.1", allowed)).toEqual([]);
  for (const leads of [
    "127.0.0.1",
    "::1",
    "0.0.0.0",
    "::",
    "::ffff:127.0.0.1",
    ...(here === undefined ? [] : [here]),
  ]) {
    const address = addressForm(leads) ?? "";
    expect(await tried(["name.example"], port, leads, [{ host: "name.example", port, address }])).toEqual([]);
  }
  expect(server.got).toEqual([]);
  server.close();
});
