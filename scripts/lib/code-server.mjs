import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { withLock } from "./lock.mjs";
import { run } from "./run.mjs";
import { ensureCompiler } from "./system-packages.mjs";

/** VS Code 1.139.1, served to a browser. */
const CODE_SERVER = "4.139.1";
/** Under Node 20 its workbench answers 500. */
const NODE = "24.21.0";
const PATIENCE_MS = 10 * 60 * 1000;

/**
 * @typedef {object} CodeServer
 * @property {string} node absolute path of the Node it runs under
 * @property {string} entry absolute path of its program
 */

/**
 * Installs code-server from the npm registry this machine uses, unless it is there: outside the repository and its lockfile, kept
 * by version. Throws when that fails.
 * @returns {Promise<CodeServer>}
 */
export async function ensureCodeServer() {
  const cache = process.env.VSCODE_E2E_CACHE ?? join(homedir(), ".cache", "vscode-e2e");
  const directory = join(cache, `cs-${CODE_SERVER}-node-${NODE}`);
  const complete = join(directory, ".complete");
  if (!existsSync(complete)) {
    mkdirSync(cache, { recursive: true });
    await withLock(`${directory}.lock`, async () => {
      if (existsSync(complete)) return;
      // What an interrupted installation left behind is worth nothing.
      rmSync(directory, { recursive: true, force: true });
      mkdirSync(directory, { recursive: true });
      process.stderr.write(`Installing code-server ${CODE_SERVER} into ${cache} (once, about two minutes) …\n`);
      await install(directory);
      writeFileSync(complete, "");
    });
  }
  return {
    node: join(nodeDirectory(directory), "bin", "node"),
    entry: join(home(directory), "out", "node", "entry.js"),
  };
}

/** @param {string} directory */
async function install(directory) {
  writeFileSync(join(directory, "package.json"), `${JSON.stringify({ private: true })}\n`);
  await ensureCompiler();
  const node = `${nodePackage()}@${NODE}`;
  await npm(directory, directory, "install", "--save-exact", "--ignore-scripts", node, `code-server@${CODE_SERVER}`);
  const vscode = join(home(directory), "lib", "vscode");
  // Its shrinkwrap names development dependencies that `npm ci` would ask for.
  await npm(directory, vscode, "install", "--omit=dev", "--ignore-scripts");
  // Without spdlog output channels stay empty.
  await npm(directory, vscode, "rebuild", "@vscode/spdlog", "@vscode/native-watchdog");
  await npm(directory, join(vscode, "extensions"), "install", "--omit=dev", "--ignore-scripts");
  link("code-linux.sh", join(vscode, "bin", "remote-cli", "code-server"));
  link("browser-linux.sh", join(vscode, "bin", "helpers", "browser.sh"));
}

/** @param {string} directory of the installation @param {string} cwd @param {...string} args */
async function npm(directory, cwd, ...args) {
  const node = nodeDirectory(directory);
  // npm tells programs that it starts which project it runs for; this is another one.
  const own = Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|config_local_prefix)/.test(name),
  );
  const env = {
    ...Object.fromEntries(own),
    PATH: [join(node, "bin"), process.env.PATH].join(delimiter),
    npm_config_nodedir: node,
    npm_config_loglevel: "error",
    npm_config_audit: "false",
    npm_config_fund: "false",
  };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const { code, output } = await run("npm", args, { cwd, env, output: "capture", signal });
  if (code === 0) return;
  const how = signal.aborted ? `did not end within ${PATIENCE_MS / 60_000} minutes` : `failed (exit code ${code})`;
  throw new Error(
    `${output.slice(-4000)}\nInstalling code-server: npm ${args.join(" ")} ${how}.\n` +
      "It needs npm, its registry, and python3, make and g++ for two native modules.",
  );
}

/** @param {string} target @param {string} path */
function link(target, path) {
  rmSync(path, { force: true });
  symlinkSync(target, path);
}

function nodePackage() {
  return `node-linux-${process.arch}`;
}

/** @param {string} directory */
function nodeDirectory(directory) {
  return join(directory, "node_modules", nodePackage());
}

/** @param {string} directory */
function home(directory) {
  return join(directory, "node_modules", "code-server");
}
