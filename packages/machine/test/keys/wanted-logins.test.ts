import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { planRead, wantedLogins } from "#keys/reading/plan-read";

const one = "https://me:secret-one@pip.example/one/";
const two = "https://me:secret-two@pip.example/two/";
const elsewhere = "https://me:secret-three@other.example/simple/";

test.each([
  ["one index", [one], [], ["pip.example"]],
  ["two of one host", [one, two], [], ["pip.example"]],
  ["two hosts, of which one said so", [one, elsewhere], [], ["pip.example"]],
  ["two hosts, of which the other did before", [one, elsewhere], ["other.example"], []],
])("%s: what is said to be wanted is what is then planned", async (_, [first = "", ...others], before, expected) => {
  await using directory = await temporaryDirectory();
  const environment = { PIP_INDEX_URL: first, PIP_EXTRA_INDEX_URL: others.join(" ") };
  const { root } = directory;
  const { signal } = new AbortController();
  const place = { directory: root, workspaceRoot: root, keys: { home: root, environment }, signal };
  const output = "ERROR: HTTP error 401 Client Error: Unauthorized for url: https://pip.example/one/dep/";
  const found = await wantedLogins("pip install dep", output, place, new Set(before));
  expect(found).toEqual(expected);
  const plan = await planRead("pip install dep", place, new Set(["pip.example", ...before]));
  expect(plan !== undefined).toBe(expected.length > 0);
  const key = await plan?.uncover({ signal });
  if (key === undefined) return;
  expect(key.environment["PIP_INDEX_URL"]).toContain("me:secret-one@");
  expect(key.secrets.includes("secret-two")).toBe(others.includes(two));
  expect(JSON.stringify(key.environment)).not.toContain("secret-three");
});
