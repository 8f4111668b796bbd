import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    // test/e2e/vitest.config.ts runs those.
    exclude: ["**/node_modules/**", "test/e2e/{browser,vscode}/**"],
    testTimeout: 20_000,
  },
});
