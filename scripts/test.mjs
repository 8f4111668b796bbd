// `npm test -- --help` says what it takes.
import { ensureBuilt } from "./lib/build.mjs";
import { ensureClaimedNodes } from "./lib/claimed-nodes.mjs";
import { helpIfAsked } from "./lib/command-line.mjs";
import { ensureInstalled } from "./lib/install.mjs";
import { ensureBubblewrap, ensureCargo, ensureChromium, ensureNatsServer } from "./lib/system-packages.mjs";
import { exclude, runList } from "./lib/tests/run-list.mjs";

helpIfAsked(`npm test                     all tests but the long ones (*.long.test.ts); of those that repeat under each further
                             version of Node that the README names, the built program's
npm test -- --all            the long ones and all repeated ones, too: before a release
npm test -- ARGS             those that ARGS choose, long or not; ARGS are vitest's: parts of paths, -t NAME, …
npm test -- --nodes [ARGS]   only those that repeat under each further version of Node

What is in a browser runs beside the others, and says at its end what it did. GENNAI_TEST_WORKERS=N,M runs N files of the
others at a time, and M of those in a browser.

Ends with one line, "N passed, N failed"; with CI=true, a test that is skipped has failed.
`);

/** @typedef {import("./lib/tests/run-list.mjs").ListResult} ListResult */

const [workers, browserWorkers] = process.env["GENNAI_TEST_WORKERS"]?.split(",") ?? [];
const main = { name: "main", config: "vitest.config.ts", workers };
const browser = { name: "browser and VS Code", config: "test/e2e/vitest.config.ts", workers: browserWorkers };

const { passed, failed } = await testAll().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  return { passed: 0, failed: 1 };
});
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

async function testAll() {
  const { onlyNodes, isShort, args } = asked(process.argv.slice(2));
  await ensureInstalled();
  await ensureBuilt();
  const results = await runLists({ onlyNodes, isShort, args });
  /** @param {"passed" | "failed" | "skipped"} what */
  const sum = (what) => results.reduce((total, counts) => total + counts[what], 0);
  const [passed, failed, skipped] = [sum("passed"), sum("failed"), sum("skipped")];
  // Said at the end, where anyone who reads a log looks first.
  for (const { failures } of results) for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`);
  if (passed + failed + skipped === 0) throw new Error("There are no such tests.");
  for (const { name, passed, seconds } of results)
    process.stdout.write(`${name}: ${passed} passed in ${Math.round(seconds)} s\n`);
  if (skipped > 0) process.stdout.write(`${skipped} skipped\n`);
  return { passed, failed: failed + (process.env.CI === "true" ? skipped : 0) };
}

/** @param {readonly string[]} given */
function asked(given) {
  const [first] = given;
  const args = first === "--nodes" || first === "--all" ? given.slice(1) : given;
  return { onlyNodes: first === "--nodes", isShort: given.length === 0, args };
}

/**
 * Two at the same time where there are two to run in full: what waits for a browser leaves time to the others.
 * @param {{ onlyNodes: boolean, isShort: boolean, args: readonly string[] }} what
 * @returns {Promise<readonly ListResult[]>}
 */
async function runLists({ onlyNodes, isShort, args }) {
  const nodes = onlyNodes || args.length === 0 ? () => underNodes({ isShort, args }) : async () => [];
  if (onlyNodes) return nodes();
  // One after another: apt does one thing at a time.
  const leftOut = [...(await ensureBubblewrap()), ...(await ensureNatsServer()), ...(await ensureCargo())];
  const noBrowser = await ensureChromium();
  const chosen = [...(isShort ? exclude("**/*.long.test.ts") : []), ...args];
  const isWhole = args.length === 0;
  const inMain = () => runList(main, chosen, { leftOut, isLive: true });
  const inBrowser = () => runList(browser, chosen, { leftOut: noBrowser, isLive: !isWhole });
  if (!isWhole) return [await inMain(), await inBrowser()];
  const both = await Promise.all([inMain(), inBrowser().then(async (result) => [result, ...(await nodes())])]);
  return both.flat();
}

/**
 * All at once: each is few files, and waits much.
 * @param {{ isShort: boolean, args: readonly string[] }} what
 * @returns {Promise<readonly ListResult[]>}
 */
async function underNodes({ isShort, args }) {
  const repeated = isShort ? ["test/node-versions/built-program.test.ts"] : args;
  const runs = (await ensureClaimedNodes()).map(async ({ version, program }) => {
    const list = { name: `Node ${version}`, config: "test/node-versions/vitest.config.ts", program };
    if (program !== undefined) return runList(list, repeated, {});
    return { ...list, passed: 0, failed: 0, skipped: 1, failures: [], seconds: 0, files: [] };
  });
  return Promise.all(runs);
}
