import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchWorld } from "../bench-world.ts";
import type { Reading } from "../table/reading.ts";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
/** Below test/e2e/vscode: those that tell figures. */
const files = ["install/package", "chat/large-session.long", "host/extension-host", "install/models.long"];

/** Measures what users wait for in the real VS Code: the tests there record their times. */
export async function measureVsCode(world: BenchWorld): Promise<readonly Reading[]> {
  const told = join(world.directory(), "figures");
  writeFileSync(told, "");
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  const tests = files.map((name) => `test/e2e/vscode/${name}.test.ts`);
  const args = [vitest, "run", "--config", "test/e2e/vitest.config.ts", "--no-file-parallelism", ...tests];
  const running = spawn(process.execPath, args, {
    cwd: repository,
    env: { ...process.env, GENNAI_FIGURES: told },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await once(running, "close");
  // A failed test has recorded nothing; the others' readings are valid.
  const readings = readFileSync(told, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Reading);
  if (running.exitCode !== 0) process.stderr.write(`vscode: a test failed; its figures are not among these.\n`);
  return readings;
}
