import { existsSync } from "node:fs";
import { root } from "./repository.mjs";
import { run } from "./run.mjs";

/** Tests that need a program of the system, as globs for vitest. */
const needBubblewrap = ["packages/server/test/sandbox/**", "test/e2e/sandbox/**"];

/**
 * Makes sure that what tests need of the system is there. On Debian it is installed when this is CI or root; elsewhere it is
 * said what is missing and how to get it.
 * @returns {Promise<readonly string[]>} globs of tests that cannot run here
 */
export async function ensureSystemPackages() {
  if (process.platform !== "linux") {
    say("The sandbox is for Linux.", "Run them in a Linux container or virtual machine.");
    return needBubblewrap;
  }
  if (!hasBubblewrap()) await installWithApt("bubblewrap");
  if (!hasBubblewrap()) {
    say(
      "bubblewrap (bwrap) is not installed.",
      "sudo apt install bubblewrap, dnf install bubblewrap or pacman -S bubblewrap",
    );
    return needBubblewrap;
  }
  const probe = ["--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "true"];
  const { code, output } = await run("bwrap", probe, { cwd: root, output: "capture" });
  if (code === 0) return [];
  say(`bubblewrap cannot make a sandbox here: ${output.trim()}`, "Allow unprivileged user namespaces for bwrap.");
  return needBubblewrap;
}

function hasBubblewrap() {
  return ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"].some((path) =>
    existsSync(path),
  );
}

/** @param {string} name */
async function installWithApt(name) {
  const isRoot = process.getuid?.() === 0;
  if (!existsSync("/usr/bin/apt-get") || !(isRoot || process.env["CI"] === "true")) return;
  process.stdout.write(`Installing ${name} …\n`);
  const program = isRoot ? "apt-get" : "sudo";
  const prefix = isRoot ? [] : ["--non-interactive", "apt-get"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [
    ["update", "--quiet"],
    ["install", "--quiet", "--yes", "--no-install-recommends", name],
  ]) {
    const { code, output } = await run(program, [...prefix, ...args], { cwd: root, env, output: "capture" }).catch(
      (error) => ({
        code: 1,
        output: String(error),
      }),
    );
    if (code !== 0)
      process.stdout.write(`${[program, ...prefix, ...args].join(" ")} failed:\n${output.slice(-2000)}\n`);
  }
}

/** @param {string} missing @param {string} remedy */
function say(missing, remedy) {
  process.stdout.write(`${missing}\n  ${remedy}\n  Left out until then: ${needBubblewrap.join(", ")}\n`);
}
