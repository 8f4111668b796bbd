// Bundles the programs that tests start again and again, unless they are made from the sources as they are, and prints where they
// lie: a bundle starts in a third of the time that the same sources take.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { buildCommandLine, bundlePrograms } from "../packages/cli/scripts/build.mjs";
import { startedThroughCache } from "./lib/compile-cache.mjs";
import { withLock } from "./lib/lock.mjs";
import { inRepository } from "./lib/repository.mjs";
import { linkRipgrep } from "./lib/ripgrep.mjs";
import { listingFingerprint, stamp } from "./lib/stamp.mjs";

const commandLine = "packages/cli/src/main.ts";
const programs = [
  "packages/shell/test/stage-check-program.ts",
  "packages/stage/test/commit/committing-program.ts",
  "packages/shell/test/copy/copy-program.ts",
  "packages/stage/test/commit/editing-program.ts",
  "packages/stage/test/mount/probe-program.ts",
  "packages/shell/test/copy/stages-program.ts",
  "packages/machine/test/change-set/crashing-writer.ts",
  "test/crash/server/serving-process.ts",
  "test/crash/store/appending-process.ts",
  "test/crash/store/rotating-process.ts",
];

const directory = inRepository(".cache", "programs");
const inputsFile = join(directory, "inputs.json");
const built = stamp(join(directory, ".stamp"), () => listingFingerprint(inputs().map((path) => inRepository(path))));

if (!built.isCurrent()) {
  await withLock(inRepository(".cache", "programs.lock"), async () => {
    if (!built.isCurrent()) await bundle();
  });
}
process.stdout.write(`${directory}\n`);

/** @returns {string[]} what the bundles were made from, relative to the repository */
function inputs() {
  return existsSync(inputsFile) ? /** @type {string[]} */ (JSON.parse(readFileSync(inputsFile, "utf8"))) : [];
}

async function bundle() {
  rmSync(directory, { recursive: true, force: true });
  const entries = programs.map((path) => [path.replace(/\.ts$/, ".main"), inRepository(path)]);
  const { metafile } = await bundlePrograms(Object.fromEntries(entries), { outDir: directory });
  // As it is shipped: its first module is main.mjs.
  const { inputs } = await buildCommandLine({ outDir: join(directory, dirname(commandLine)) });
  for (const path of programs) {
    const file = join(directory, path.replace(/\.ts$/, ".mjs"));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, startedThroughCache(`./${basename(file, ".mjs")}.main.mjs`));
  }
  linkRipgrep(directory);
  const scripts = [
    "build.mjs",
    "lazy-builtins.mjs",
    "lazy-descriptors.mjs",
    "lazy-streams.mjs",
    "light-headers.mjs",
    "light-http.mjs",
    "two-bundles.mjs",
  ].map((name) => `packages/cli/scripts/${name}`);
  scripts.push("scripts/test-programs.mjs", "pnpm-lock.yaml");
  writeFileSync(inputsFile, JSON.stringify([...Object.keys(metafile.inputs), ...inputs, ...scripts]));
  built.write(built.fingerprint());
}
