// Makes what the tests in VS Code need and prints, as JSON, where it is: code-server, the bundled extension, its VSIX.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureCodeServer } from "./lib/code-server.mjs";
import { withLock } from "./lib/lock.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { inRepository } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";
import { listingFingerprint, stamp } from "./lib/stamp.mjs";

const extension = inRepository("packages", "vscode");
const packages = inRepository(".cache", "e2e", "vsix");

try {
  const codeServer = await ensureCodeServer();
  const vsix = await withLock(inRepository(".cache", "e2e", "vsix.lock"), ensurePackaged);
  process.stdout.write(`${JSON.stringify({ codeServer, extension, vsix })}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** Packages the extension unless that was done from the sources as they are. Gives the path of the VSIX. */
async function ensurePackaged() {
  const packaged = stamp(inRepository(".cache", "e2e", "vsix.stamp"), () => listingFingerprint(sources()));
  if (packaged.isCurrent() && existsSync(join(extension, "dist", "extension.cjs")) && vsixFiles().length === 1) {
    return onlyVsix("");
  }
  const made = packaged.fingerprint();
  packaged.clear();
  rmSync(packages, { recursive: true, force: true });
  mkdirSync(packages, { recursive: true });
  const { code, output } = await run(packagedNode(), [join(extension, "scripts", "package.mjs"), packages], {
    cwd: extension,
    env: toolEnvironment(),
    output: "capture",
  });
  if (code !== 0) throw new Error(`${output}Packaging the extension failed (exit code ${code}).`);
  const path = onlyVsix(output);
  packaged.write(made);
  return path;
}

function sources() {
  const ofExtension = readdirSync(extension).filter(
    (name) => !["dist", "node_modules", "LICENSE", "test"].includes(name),
  );
  return [
    ...ofExtension.map((name) => join(extension, name)),
    ...["src", "scripts", "package.json"].map((name) => inRepository("packages", "repl", name)),
    ...["client", "protocol"].map((name) => inRepository("packages", name, "src")),
    inRepository("pnpm-lock.yaml"),
  ];
}

function vsixFiles() {
  return existsSync(packages) ? readdirSync(packages).filter((name) => name.endsWith(".vsix")) : [];
}

/** @param {string} output of who made it */
function onlyVsix(output) {
  const [name] = vsixFiles();
  if (name === undefined) throw new Error(`${output}Packaging the extension left nothing in ${packages}.`);
  return join(packages, name);
}
