import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { packagedNode } from "./packaged-node.mjs";
import { inRepository, packageDirectories, root } from "./repository.mjs";
import { run } from "./run.mjs";
import { listingFingerprint, stamp } from "./stamp.mjs";

/** What `npm start` runs. */
export const program = inRepository("dist", "gennai.mjs");

/** Builds `dist` unless it is made from the sources as they are. Throws when that fails. */
export async function ensureBuilt() {
  const built = stamp(inRepository("dist", ".stamp"), () => listingFingerprint(sources()));
  if (built.isCurrent()) return;
  await withLock(inRepository(".cache", "build.lock"), async () => {
    if (built.isCurrent()) return;
    const made = built.fingerprint();
    built.clear();
    const { code, output } = await run(packagedNode(), [inRepository("scripts", "build.mjs")], {
      cwd: root,
      output: "capture",
    });
    if (code !== 0) throw new Error(`${output}Building failed (exit code ${code}).`);
    built.write(made);
  });
}

function sources() {
  const packages = packageDirectories().flatMap((path) => [join(path, "src"), join(path, "package.json")]);
  const others = [
    "pnpm-lock.yaml",
    "package.json",
    "tsconfig.base.json",
    "scripts/build.mjs",
    "scripts/lib/program.mjs",
    "packages/cli/scripts",
    "packages/repl/scripts/build.mjs",
    "packages/ledger-page/scripts/build.mjs",
  ];
  return [...packages, ...others.map((name) => inRepository(name))];
}
