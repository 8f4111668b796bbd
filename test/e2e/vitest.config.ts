import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { hangLimit } from "../hang-limit.ts";
import { LongestFirst } from "../longest-first.ts";

const pictures = process.env["GENNAI_PICTURES"] !== undefined;

/**
 * What runs in a browser, two files at a time: the page that the server serves, and the extension in VS Code. Browsers, servers,
 * windows, homes and ports are a file's own.
 */
export default defineConfig({
  // The other tests run at the same time.
  cacheDir: besides("../../.cache/vite/e2e"),
  test: {
    root: besides("../.."),
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    setupFiles: [besides("browser/page/chromium.setup.ts")],
    passWithNoTests: true,
    // A test waits in several places, in each for as long as `patience` says.
    testTimeout: hangLimit,
    hookTimeout: hangLimit,
    expect: { poll: { timeout: 150_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: "browser",
          // `npm run pictures` alone makes those of the page and of the terminal.
          include: [
            "test/e2e/browser/**/*.test.ts",
            ...(pictures ? ["test/e2e/{browser,terminal}/*.pictures.ts"] : []),
          ],
        },
      },
      {
        extends: true,
        test: {
          name: "vscode",
          include: ["test/e2e/vscode/**/*.test.ts"],
          globalSetup: [besides("vscode/workbench/code-server/code-server.setup.ts")],
        },
      },
    ],
  },
});

/** Absolute, whatever the tool that reads this takes for the root. */
function besides(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
