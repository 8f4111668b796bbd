import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * What runs in a browser, one file after the other: the page that the server serves, and the extension in VS Code. Each project
 * brings up once what its files share.
 */
export default defineConfig({
  test: {
    root: besides("../.."),
    fileParallelism: false,
    passWithNoTests: true,
    testTimeout: 60_000,
    retry: process.env["CI"] === "true" ? 1 : 0,
    hookTimeout: 90_000,
    projects: [
      {
        extends: true,
        test: {
          name: "browser",
          include: ["test/e2e/browser/**/*.test.ts"],
          globalSetup: [besides("browser/chromium.setup.ts")],
        },
      },
      // Asked for by `npm run test:vscode`: its workbench died once in the middle of a run, and its first webview can take half a
      // minute, both for reasons not known yet.
      ...(process.env["GENNAI_TEST_VSCODE"] === "1"
        ? [
            {
              extends: true,
              test: {
                name: "vscode",
                include: ["test/e2e/vscode/**/*.test.ts"],
                globalSetup: [besides("browser/chromium.setup.ts"), besides("vscode/code-server.setup.ts")],
              },
            },
          ]
        : []),
    ],
  },
});

/** Absolute, whatever the tool that reads this takes for the root. */
function besides(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
