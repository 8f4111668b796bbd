import { expect, test } from "vitest";
import { proxyFindings } from "#machine-checks";

test.each([
  [
    { HTTPS_PROXY: "http://proxy:3128" },
    [expect.objectContaining({ state: "warn", text: expect.stringContaining("HTTPS_PROXY") })],
  ],
  [{ HTTPS_PROXY: "http://proxy:3128", NODE_USE_ENV_PROXY: "1" }, []],
  [{}, []],
])("%o", (environment, want) => {
  expect(proxyFindings(environment)).toEqual(want);
});
