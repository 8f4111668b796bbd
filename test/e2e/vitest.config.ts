import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * What runs in a browser, one file after the other: the page that the server serves, and the extension in VS Code. Each project
 * brings up once what its files share.
 */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    fileParallelism: false,
    passWithNoTests: true,
    testTimeout: 60_000,
    hookTimeout: 90_000,
    projects: [
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/e2e/browser/**/*.test.ts"],
          globalSetup: ["test/e2e/browser/chromium.setup.ts"],
        },
      },
      {
        extends: true,
        test: {
          name: "vscode",
          include: ["test/e2e/vscode/**/*.test.ts"],
          globalSetup: ["test/e2e/browser/chromium.setup.ts", "test/e2e/vscode/code-server.setup.ts"],
        },
      },
    ],
  },
});
