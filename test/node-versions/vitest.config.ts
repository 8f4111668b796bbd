import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { hangLimit } from "../hang-limit.ts";

/**
 * What `npm test` runs under each further version of Node that the README names: the built program, and of the other tests those
 * of what differs most between versions: SQLite, processes, files, streams over HTTP. None may start a file of ours that is
 * TypeScript: Node 22.13 reads none.
 */
export default defineConfig({
  // They run at the same time.
  cacheDir: fileURLToPath(new URL(`../../.cache/vite/${process.versions.node}`, import.meta.url)),
  // As the build does.
  oxc: { target: "node22.13" },
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    passWithNoTests: true,
    // Each command of the built program is a process.
    testTimeout: hangLimit,
    hookTimeout: hangLimit,
    maxWorkers: 2,
    setupFiles: [fileURLToPath(new URL("older-node.setup.ts", import.meta.url))],
    include: [
      "test/node-versions/*.test.ts",
      "packages/store/test/sqlite-connection.test.ts",
      "packages/store/test/database/**/*.test.ts",
      "packages/machine/test/process/run-command.test.ts",
      "packages/sessions/test/tools/writing/**/*.test.ts",
      "test/e2e/rpc/turns/turns.test.ts",
      "test/e2e/rpc/changes/apply-proposal.test.ts",
    ],
  },
});
