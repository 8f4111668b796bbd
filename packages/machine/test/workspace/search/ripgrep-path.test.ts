import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { ripgrepPath } from "#workspace/search/ripgrep-path";

test("finds a ripgrep that runs", () => {
  expect(execFileSync(ripgrepPath(), ["--version"], { encoding: "utf8" })).toMatch(/^ripgrep \d/);
});
