// `npm test -- ARGS`: every test; ARGS go to vitest. Ends with one line, `N passed, N failed`. With CI=true nothing may be skipped.
import { readFileSync, rmSync } from "node:fs";
import { ensureBuilt } from "./lib/build.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { inRepository, root } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";
import { ensureSystemPackages } from "./lib/system-packages.mjs";

const { passed, failed } = await testAll().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return { passed: 0, failed: 1 };
});
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function testAll() {
  await ensureInstalled();
  await ensureBuilt();
  const leftOut = await ensureSystemPackages();
  const report = inRepository(".cache", "vitest.json");
  rmSync(report, { force: true });
  const args = [
    "run",
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...leftOut.flatMap((glob) => ["--exclude", glob]),
    ...process.argv.slice(2),
  ];
  const { code } = await run(packagedNode(), [inRepository("node_modules", "vitest", "vitest.mjs"), ...args], {
    cwd: root,
    env: toolEnvironment(),
    output: "inherit",
  });
  const counts = JSON.parse(readFileSync(report, "utf8"));
  const skipped = counts.numPendingTests + counts.numTodoTests;
  if (skipped > 0) process.stdout.write(`${skipped} skipped\n`);
  const forbidden = process.env.CI === "true" ? skipped + leftOut.length : 0;
  // A file that does not load, or an error outside any test, fails the run without failing a test.
  const failed = counts.numFailedTests + forbidden || (code === 0 ? 0 : 1);
  return { passed: counts.numPassedTests, failed };
}
