// Makes what the tests in VS Code need and prints, as JSON, where it is: code-server, the VSIX, and the extension as VS Code
// unpacks it. What is packaged lies in a directory named after its sources: anyone who builds the extension meanwhile disturbs no test.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { ensureCodeServer } from "./lib/code-server.mjs";
import { withLock } from "./lib/lock.mjs";
import { packagedNode, toolEnvironment } from "./lib/packaged-node.mjs";
import { inRepository } from "./lib/repository.mjs";
import { run } from "./lib/run.mjs";
import { listingFingerprint } from "./lib/stamp.mjs";

const sourceDirectory = inRepository("packages", "vscode");
const cache = inRepository(".cache", "e2e", "extension");
/** Another run may still use what was made from older sources. */
const KEEP_OLD_MS = 24 * 60 * 60 * 1000;

try {
  const codeServer = await ensureCodeServer();
  const packaged = await withLock(`${cache}.lock`, () => ensurePackaged(codeServer));
  process.stdout.write(`${JSON.stringify({ codeServer, ...packaged })}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/**
 * Packages the extension unless that was done from the sources as they are.
 * @param {import("./lib/code-server.mjs").CodeServer} codeServer
 * @returns {Promise<{ vsix: string, extension: string }>} absolute paths of the package and of what is in it
 */
async function ensurePackaged(codeServer) {
  const directory = join(cache, listingFingerprint(sources()).slice(0, 16));
  const paths = { vsix: join(directory, "gennai.vsix"), extension: join(directory, "gennai") };
  // The last that is made.
  if (!existsSync(paths.extension)) {
    rmSync(directory, { recursive: true, force: true });
    const scratch = join(directory, "scratch");
    mkdirSync(scratch, { recursive: true });
    await node(packagedNode(), join(sourceDirectory, "scripts", "package.mjs"), scratch);
    renameSync(join(scratch, only(scratch, /\.vsix$/)), paths.vsix);
    const extensions = join(scratch, "extensions");
    const places = ["--user-data-dir", join(scratch, "user"), "--config", join(scratch, "config.yaml")];
    const install = ["--extensions-dir", extensions, "--install-extension", paths.vsix];
    await node(codeServer.node, codeServer.entry, ...places, ...install);
    renameSync(join(extensions, only(extensions, /^gennai\./)), paths.extension);
    rmSync(scratch, { recursive: true });
  }
  utimesSync(directory, new Date(), new Date());
  for (const path of readdirSync(cache).map((name) => join(cache, name))) {
    if (statSync(path).mtimeMs < Date.now() - KEEP_OLD_MS) rmSync(path, { recursive: true, force: true });
  }
  return paths;
}

function sources() {
  const ofExtension = readdirSync(sourceDirectory).filter(
    (name) => !["dist", "node_modules", "LICENSE", "test"].includes(name),
  );
  return [
    ...ofExtension.map((name) => join(sourceDirectory, name)),
    ...["src", "scripts", "package.json"].map((name) => inRepository("packages", "repl", name)),
    ...readdirSync(inRepository("packages")).map((name) => inRepository("packages", name, "src")),
    ...["cli", "ledger-page"].map((name) => inRepository("packages", name, "scripts")),
    inRepository("scripts", "lib", "program.mjs"),
    inRepository("pnpm-lock.yaml"),
  ];
}

/** @param {string} program a Node @param {...string} args */
async function node(program, ...args) {
  const { code, output } = await run(program, args, {
    cwd: sourceDirectory,
    env: toolEnvironment(),
    output: "capture",
  });
  if (code !== 0) throw new Error(`${output}${args.join(" ")} failed (exit code ${code}).`);
}

/** @param {string} directory @param {RegExp} pattern @returns {string} the name of what is there once */
function only(directory, pattern) {
  const [name, ...others] = readdirSync(directory).filter((candidate) => pattern.test(candidate));
  if (name === undefined || others.length > 0) throw new Error(`${directory} does not hold one ${pattern}.`);
  return name;
}
