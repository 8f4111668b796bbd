import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const pictures = process.env["GENNAI_PICTURES"] !== undefined;

/**
 * What runs in a browser, two files at a time: the page that the server serves, and the extension in VS Code. Each project brings
 * up once what its files share, which is the browser; servers, windows, homes and ports are a file's own.
 */
export default defineConfig({
  test: {
    root: besides("../.."),
    maxWorkers: 2,
    passWithNoTests: true,
    testTimeout: 180_000,
    retry: process.env["CI"] === "true" ? 1 : 0,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 150_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "browser",
          // `npm run pictures` alone makes those of the page.
          include: [pictures ? "test/e2e/browser/*.pictures.ts" : "test/e2e/browser/**/*.test.ts"],
          globalSetup: [besides("browser/page/chromium.setup.ts")],
        },
      },
      {
        extends: true,
        test: {
          name: "vscode",
          include: ["test/e2e/vscode/**/*.test.ts"],
          globalSetup: [
            besides("browser/page/chromium.setup.ts"),
            besides("vscode/workbench/code-server/code-server.setup.ts"),
          ],
          // A test waits in several places, in each for as long as `patience` says.
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});

/** Absolute, whatever the tool that reads this takes for the root. */
function besides(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
