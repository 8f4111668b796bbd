import { nothingAgreed } from "@gennai/governance/policies/files/agreed-control";
import { expect, test } from "vitest";
import { isAgreed } from "#found/agreed-change";

const name = `.github/workflows/${"a".repeat(120)}.yml`;
const around = { root: "/ws", isTracked: true, text: () => undefined };
const change = {
  path: `/ws/${name}`,
  name,
  control: { level: "sensitive", what: "" },
  before: undefined,
  after: undefined,
} as unknown as Parameters<typeof isAgreed>[0];

test.for([
  ["*.yml", true],
  ["a*a*.yml", true],
  ["*.yaml", false],
  [`${"*a".repeat(8)}b.yml`, false],
  [`${"*a".repeat(8)}*`, true],
  ["!(b).yml", false],
] as const)("removing .github/workflows/%s agrees to a name that it matches: %s", ([pattern, is]) => {
  const absolute = `/ws/.github/workflows/${pattern}`;
  const named = [{ raw: absolute, absolute, access: "delete", pattern: true } as const];
  expect(isAgreed(change, { ...nothingAgreed, named }, around)).toBe(is);
});
