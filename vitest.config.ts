import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { hangLimit } from "./test/hang-limit.ts";
import { LongestFirst } from "./test/longest-first.ts";
import { testFilesOf } from "./test/test-files.ts";

const root = fileURLToPath(new URL(".", import.meta.url));
/** Folders of test/e2e, and others of test/, that may share a process: their servers change nothing that a process has once. */
const sharedEnds = [
  "acp",
  "checkpoints",
  "client-workspace",
  "context",
  "governance",
  "ledger",
  "long-sessions",
  "mcp",
  "models",
  "page",
  "plans",
  "process",
  "redaction",
  "rpc",
  "sandbox",
  "telemetry",
  "terminal",
  "users",
];
const sharedOthers = ["programs", "wire"];
const { together, alone } = testFilesOf(root, {
  folders: [
    ...readdirSync(join(root, "packages")).map((name) => join("packages", name, "test")),
    ...sharedEnds.map((name) => join("test", "e2e", name)),
    ...sharedOthers.map((name) => join("test", name)),
  ],
  apart: [
    // They wait for processes that do the work: sharing one saves them nothing.
    ...["shell/test/background", "shell/test/copy", "shell/test/layer", "stage/test"].map((name) =>
      join("packages", name),
    ),
    // One has a log of other processes, and one measures the memory of its own.
    ...["replicas", "slow-readers"].map((name) => join("test", "e2e", "users", `${name}.test.ts`)),
  ],
});

export default defineConfig({
  test: {
    // For slow machines that do other things besides: a wait ends as soon as its condition holds, and nothing here measures time.
    testTimeout: hangLimit,
    hookTimeout: hangLimit,
    expect: { poll: { timeout: 150_000 } },
    // Many tests wait for processes and disks; what runs in a browser takes its time beside them.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    sequence: { sequencer: LongestFirst },
    setupFiles: [fileURLToPath(new URL("test/patient-waits.setup.ts", import.meta.url))],
    // Processes that tests start from the source need not read it anew each time.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL(".cache/compiled", import.meta.url)) },
    projects: [
      // What these import is loaded once for all of them, not anew for each.
      {
        extends: true,
        test: {
          name: "shared",
          include: together,
          isolate: false,
          setupFiles: [fileURLToPath(new URL("test/restored.setup.ts", import.meta.url))],
        },
      },
      {
        extends: true,
        test: {
          name: "isolated",
          // No `exclude`: with one, vitest does not hear `--exclude`. What is in a browser, test/e2e/vitest.config.ts runs.
          include: [
            ...alone,
            `test/!(e2e|${sharedOthers.join("|")})/**/*.test.ts`,
            `test/e2e/!(browser|vscode|${sharedEnds.join("|")})/**/*.test.ts`,
          ],
        },
      },
    ],
  },
});
