import { expect, it } from "vitest";
import { verifySignedPolicy } from "#limits/signed-policy";

const times = { issued: "2026-01-01T00:00:00Z", expires: "2027-01-01T00:00:00Z" };
const signature = { key_id: "0123456789abcdef", signature: `${"A".repeat(86)}==` };
const policy = { gennai_policy: 1, name: "team", serial: 3, capabilities: ["write"], ...times, ...signature };
const profile = {
  type: "gennai-capabilities",
  version: 1,
  name: "team",
  capabilities: ["write"],
  ...times,
  ...signature,
};
const verify = (value: unknown, known = true, genuine = true) =>
  verifySignedPolicy(value, { knows: () => known, verify: () => genuine }, { holder: "user", file: "p.json" });

it.each([
  ["a policy", policy],
  ["a capability profile of former releases", profile],
])("%s asks for a known key and a right signature", async (_what, document) => {
  await expect(verify(document)).resolves.toMatchObject({ name: "team", capabilities: ["write"] });
  await expect(verify(document, false)).rejects.toThrow("not trusted here");
  await expect(verify(document, true, false)).rejects.toThrow("changed after it was signed");
  const bad: readonly Readonly<Record<string, unknown>>[] = [
    { capabilities: ["everything"] },
    { extra: true },
    { expires: "2025-01-01T00:00:00Z" },
    { expires: "soon" },
    { expires: undefined },
    { version: 2 },
    { signature: "AA" },
  ];
  for (const change of bad) await expect(verify({ ...document, ...change })).rejects.toThrow();
});
