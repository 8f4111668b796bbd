import { execFileSync } from "node:child_process";
import { ripgrepPath } from "@gennai/machine/workspace/search/ripgrep-path";
import { expect, test } from "vitest";

test("finds a ripgrep that runs", () => {
  expect(execFileSync(ripgrepPath(), ["--version"], { encoding: "utf8" })).toMatch(/^ripgrep \d/);
});
