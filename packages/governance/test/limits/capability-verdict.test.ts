import { expect, it, test } from "vitest";
import type { Effect } from "#effect";
import { type Limit, leastPrivilege } from "#limits/limits";
import { createLimitsPolicy } from "#limits/limits-policy";
import type { Capability } from "#limits/policy-schema";
import { decide, exec, inside, summary, write } from "../policies/effects.ts";

const net: Effect = { type: "net", url: "https://a.example" };

function policyOf(...limits: readonly Limit[]) {
  return createLimitsPolicy({ current: () => limits });
}

function policyWith(...capabilities: readonly Capability[]) {
  return policyOf({ name: "team", holder: "user", file: "", lines: {}, capabilities: [...capabilities] });
}

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
it.each(rows)("seed 003 §10 before: deny disallowed licensed tool: %s", async (_name, effect, needed) => {
  expect(summary(await decide(policyWith(...needed), effect))).toBe("allow");
  for (const missing of needed) {
    const others = needed.filter((capability) => capability !== missing);
    expect(summary(await decide(policyWith(...others), effect))).toBe("deny capability_denied");
  }
});

it("seed 003 §10 refusal: denied capability returns graceful refusal, which says what is missing and what to do", async () => {
  const verdict = await decide(policyWith("read"), write(inside("a")));
  expect(verdict).toMatchObject({
    finding: {
      code: "capability_denied",
      reason: expect.stringMatching(/capability write.*policy team/),
      hint: expect.any(String),
    },
  });
});

it("seed 003 §10 least: missing or invalid license defaults to least-privilege behavior", async () => {
  const policy = policyOf(leastPrivilege("its signature does not fit", { name: "none", holder: "user", file: "" }));
  expect(summary(await decide(policy, { type: "read", path: inside("a") }))).toBe("allow");
  expect(summary(await decide(policy, exec("ls")))).toBe("allow");
  for (const effect of [write(inside("a")), exec("npm test"), net]) {
    expect(await decide(policy, effect)).toMatchObject({
      type: "deny",
      finding: { code: "capability_denied", reason: expect.stringContaining("its signature does not fit") },
    });
  }
});

test("without a limit everything ordinary is permitted", async () => {
  const policy = policyOf();
  for (const effect of [write(inside("a")), exec("npm publish"), net]) {
    expect(summary(await decide(policy, effect))).toBe("allow");
  }
});
