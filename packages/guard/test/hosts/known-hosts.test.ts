import { policySchema } from "@gennai/governance/limits/policy-schema";
import { expect, test } from "vitest";
import { knownHosts } from "#hosts/known-hosts";

const hosts = [...knownHosts.values()];

test.each(hosts)("what $id says of a call that is tried reads as a call that changes something", (host) => {
  const file = "/state/guard/probe";
  const event = host.read(host.hook.probe(file, "/work"));
  expect(event).toMatchObject({ type: "before", directory: "/work", call: { type: "judged", readsOnly: false } });
  expect(JSON.stringify(event)).toContain(file);
  expect(host.isAfterCall(host.hook.probe(file, "/work"))).toBe(false);
});

test("a policy can want each of them guarded", () => {
  const guarded = hosts.map(({ id }) => id);
  expect(policySchema.safeParse({ gennai_policy: 1, name: "all", require: { guard: guarded } }).error).toBeUndefined();
});
