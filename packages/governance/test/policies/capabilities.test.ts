import { describe, expect, it, test } from "vitest";
import type { Effect } from "#effect";
import { createCapabilitiesPolicy } from "#policies/capabilities-policy";
import {
  type Capability,
  defaultProfile,
  leastPrivilege,
  profileAt,
  verifyCapabilityProfile,
} from "#policies/capability-profile";
import { decide, exec, inside, summary, write } from "./effects.ts";

const net: Effect = { type: "net", url: "https://a.example" };

function policyWith(...capabilities: readonly Capability[]) {
  const profile = { name: "team", capabilities, issued: undefined, expires: undefined };
  return createCapabilitiesPolicy({ current: () => ({ profile }) });
}

describe("seed 003 §10 before: deny disallowed licensed tool", () => {
  const rows: readonly (readonly [string, Effect, readonly Capability[]])[] = [
    ["read", { type: "read", path: inside("a") }, ["read"]],
    ["search", { type: "search", path: inside("") }, ["read"]],
    ["propose", { type: "propose", path: inside("a"), operation: "update" }, ["propose"]],
    ["write", write(inside("a")), ["write"]],
    ["write that others run", write(inside(".github/workflows/ci.yml")), ["write", "high_impact"]],
    ["a command that reads", exec("git status"), ["read"]],
    ["a command", exec("npm test"), ["execute"]],
    ["a command that leaves the machine", exec("curl https://a.example"), ["execute", "network"]],
    ["a command of high impact", exec("npm publish"), ["execute", "network", "high_impact"]],
    ["a command that is not known", exec("$X"), ["execute", "network", "high_impact"]],
    ["network", net, ["network", "high_impact"]],
    ["session", { type: "session" }, []],
  ];
  it.each(rows)("%s", async (_name, effect, needed) => {
    expect(summary(await decide(policyWith(...needed), effect))).toBe("allow");
    for (const missing of needed) {
      const others = needed.filter((capability) => capability !== missing);
      expect(summary(await decide(policyWith(...others), effect))).toBe("deny capability_denied");
    }
  });
});

it("seed 003 §10 refusal: denied capability returns graceful refusal, which says what is missing and what to do", async () => {
  const verdict = await decide(policyWith("read"), write(inside("a")));
  expect(verdict).toMatchObject({
    finding: {
      code: "capability_denied",
      reason: expect.stringMatching(/capability write.*profile team/),
      hint: expect.any(String),
    },
  });
});

it("seed 003 §10 least: missing or invalid license defaults to least-privilege behavior", async () => {
  const policy = createCapabilitiesPolicy({ current: () => leastPrivilege("its signature does not fit") });
  expect(summary(await decide(policy, { type: "read", path: inside("a") }))).toBe("allow");
  expect(summary(await decide(policy, exec("ls")))).toBe("allow");
  for (const effect of [write(inside("a")), exec("npm test"), net]) {
    expect(await decide(policy, effect)).toMatchObject({
      type: "deny",
      finding: { code: "capability_denied", reason: expect.stringContaining("its signature does not fit") },
    });
  }
});

test("the default profile permits everything ordinary", async () => {
  const policy = createCapabilitiesPolicy({ current: () => ({ profile: defaultProfile }) });
  for (const effect of [write(inside("a")), exec("npm publish"), net]) {
    expect(summary(await decide(policy, effect))).toBe("allow");
  }
});

describe("a profile in time", () => {
  const day = 86_400_000;
  const profile = { name: "team", capabilities: ["write"] as const, issued: 10 * day, expires: 20 * day };
  it.each([
    ["before its issue", 9 * day, "clock"],
    ["a little before: clocks differ", 10 * day - 60_000, undefined],
    ["in its time", 15 * day, undefined],
    ["at its end", 20 * day, "expired"],
    ["after", 21 * day, "expired"],
  ])("%s", (_name, now, problem) => {
    const state = profileAt(profile, now);
    if (problem === undefined) expect(state).toEqual({ profile });
    else
      expect(state).toMatchObject({ profile: { capabilities: ["read"] }, problem: expect.stringContaining(problem) });
  });
});

it("asks for a known key and a right signature", async () => {
  const document = {
    type: "gennai-capabilities",
    version: 1,
    name: "team",
    capabilities: ["write"],
    issued: "2026-01-01T00:00:00Z",
    expires: "2027-01-01T00:00:00Z",
    key_id: "0123456789abcdef",
    signature: `${"A".repeat(86)}==`,
  };
  const verifier = (known: boolean, genuine: boolean) => ({ knows: () => known, verify: () => genuine });
  await expect(verifyCapabilityProfile(document, verifier(true, true))).resolves.toMatchObject({ name: "team" });
  await expect(verifyCapabilityProfile(document, verifier(false, true))).rejects.toThrow("not trusted here");
  await expect(verifyCapabilityProfile(document, verifier(true, false))).rejects.toThrow("changed after it was signed");
  const bad: readonly Readonly<Record<string, unknown>>[] = [
    { capabilities: ["everything"] },
    { extra: true },
    { expires: "2025-01-01T00:00:00Z" },
    { expires: "soon" },
    { version: 2 },
    { signature: "AA" },
  ];
  for (const change of bad) {
    await expect(verifyCapabilityProfile({ ...document, ...change }, verifier(true, true))).rejects.toThrow();
  }
});
