import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // test/e2e/vitest.config.ts runs those.
    exclude: ["**/node_modules/**", "test/e2e/{browser,vscode}/**"],
    // For machines that do other things besides; nothing here measures time.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Many tests wait for processes: also where there are two processors, two files at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Real processes, kills and clocks on a machine that others use, too: what fails twice is broken, what fails once is listed.
    retry: process.env["CI"] === "true" ? 1 : 0,
  },
});
