import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./repository.mjs";
import { run } from "./run.mjs";

/** Tests that need a program of the system, as globs for vitest. */
const needBubblewrap = [
  "packages/{stage,egress,shell}/test/**",
  "test/e2e/sandbox/**",
  "test/docs/{pages,examples}.test.ts",
];
const needNatsServer = [
  "test/conformance/session-log/nats*",
  "test/e2e/replicas/**",
  "test/scale/**",
  "test/docs/pages.test.ts",
];
const needCargo = ["test/e2e/sandbox/keys/read-crates.test.ts"];
const needMaven = ["test/e2e/sandbox/keys/read-maven.test.ts"];
const needChromium = ["test/e2e/browser/**", "test/e2e/vscode/**"];

/** Browsers that the tests can use, the best first: without a window of its own, one takes two thirds of the processor time. */
export const browserNames = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/**
 * Makes sure that the sandbox is there. Like all that tests need of the system it is installed, on Debian, when this is CI or
 * root; elsewhere it is said what is missing and how to get it.
 * @returns {Promise<readonly string[]>} globs of tests that cannot run here
 */
export async function ensureBubblewrap() {
  if (process.platform !== "linux") {
    say(needBubblewrap, "The sandbox is for Linux.", "Run them in a Linux container or virtual machine.");
    return needBubblewrap;
  }
  if (!hasProgram("bwrap")) await installWithApt("bubblewrap");
  if (!hasProgram("bwrap")) {
    say(
      needBubblewrap,
      "bubblewrap (bwrap) is not installed.",
      "sudo apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap",
    );
    return needBubblewrap;
  }
  const probe = ["--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"];
  const { code, output } = await run("bwrap", probe, { cwd: root, output: "capture" });
  if (code === 0) return [];
  const remedy = "Allow unprivileged user namespaces for bwrap.";
  say(needBubblewrap, `bubblewrap cannot make a sandbox here: ${output.trim()}`, remedy);
  return needBubblewrap;
}

/**
 * Makes sure that a browser is there, and Linux, for which VS Code is served to it.
 * @returns {Promise<readonly string[]>} globs of tests that cannot run here
 */
export async function ensureChromium() {
  if (process.platform !== "linux") {
    say(needChromium, "The tests in a browser are for Linux.", "Run them in a Linux container or virtual machine.");
    return needChromium;
  }
  for (const name of ["chromium-headless-shell", "chromium"]) {
    if (!browserNames.some(hasProgram)) await installWithApt(name);
  }
  if (browserNames.some(hasProgram)) return [];
  const remedy = "sudo apt install chromium, dnf install chromium or pacman -S chromium";
  say(needChromium, "Chromium is not installed.", remedy);
  return needChromium;
}

/** Makes sure, where that is possible, that pictures show the shield of the status bar, and no box in its place. */
export async function ensureEmoji() {
  if (existsSync("/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf")) return;
  if (process.platform === "linux") await installWithApt("fonts-noto-color-emoji");
}

/**
 * Makes sure that a NATS server is there, for the log that several servers share.
 * @returns {Promise<readonly string[]>} globs of tests that cannot run here
 */
export async function ensureNatsServer() {
  if (!hasProgram("nats-server")) await installWithApt("nats-server");
  if (hasProgram("nats-server")) return [];
  const remedy = "sudo apt install nats-server, brew install nats-server, or https://nats.io/download";
  say(needNatsServer, "nats-server is not installed.", remedy);
  return needNatsServer;
}

/**
 * Makes sure that cargo is there, which reads private registries.
 * @returns {Promise<readonly string[]>} globs of tests that cannot run here
 */
export async function ensureCargo() {
  // That of Debian 12 cannot log in to a registry; the one that its browsers are built with can.
  for (const name of ["cargo-web", "cargo"]) if (!hasCargo()) await installWithApt(name);
  if (hasCargo()) return [];
  say(needCargo, "cargo is not installed.", "https://rustup.rs, or the cargo (1.74 or newer) of your system");
  return needCargo;
}

/**
 * Sees whether Maven is there, which reads private repositories. Its Java is too large to be installed for one test.
 * @returns {readonly string[]} globs of tests that cannot run here
 */
export function ensureMaven() {
  if (hasProgram("mvn")) return [];
  say(needMaven, "Maven is not installed.", "sudo apt install maven, dnf install maven or pacman -S maven");
  return needMaven;
}

/** Makes sure, where that is possible, that native modules can be built. */
export async function ensureCompiler() {
  if (!["g++", "make", "python3"].every(hasProgram)) await installWithApt("g++", "make", "python3");
}

/** @param {string} name */
function hasProgram(name) {
  const directories = [
    "/usr/bin",
    "/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
  ];
  return directories.some((directory) => existsSync(join(directory, name)));
}

/** One that works: that of rustup is there without a toolchain, too. */
function hasCargo() {
  return ["cargo", "/usr/bin/cargo"].some((program) => spawnSync(program, ["--version"]).status === 0);
}

/** Whether this process has fetched apt's lists. */
let hasLists = false;

/** @param {...string} names */
async function installWithApt(...names) {
  const isRoot = process.getuid?.() === 0;
  if (!existsSync("/usr/bin/apt-get") || !(isRoot || process.env["CI"] === "true")) return;
  process.stderr.write(`Installing ${names.join(", ")} …\n`);
  const program = isRoot ? "apt-get" : "sudo";
  const prefix = isRoot ? [] : ["--non-interactive", "apt-get"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const update = ["update", "--quiet"];
  const install = ["install", "--quiet", "--yes", "--no-install-recommends", ...names];
  for (const args of hasLists ? [install] : [update, install]) {
    const { code, output } = await run(program, [...prefix, ...args], { cwd: root, env, output: "capture" }).catch(
      (error) => ({
        code: 1,
        output: String(error),
      }),
    );
    if (code === 0 && args === update) hasLists = true;
    if (code !== 0)
      process.stderr.write(`${[program, ...prefix, ...args].join(" ")} failed:\n${output.slice(-2000)}\n`);
  }
}

/** @param {readonly string[]} leftOut @param {string} missing @param {string} remedy */
function say(leftOut, missing, remedy) {
  process.stderr.write(`${missing}\n  ${remedy}\n  Left out until then: ${leftOut.join(", ")}\n`);
}
