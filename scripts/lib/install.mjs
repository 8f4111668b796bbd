import { join } from "node:path";
import { withLock } from "./lock.mjs";
import { inRepository, packageDirectories, root } from "./repository.mjs";
import { run } from "./run.mjs";
import { contentFingerprint, stamp } from "./stamp.mjs";

const PNPM = "pnpm@12.21.0";

/** Installs the dependencies unless those of the lockfile are there. Throws when that fails. */
export async function ensureInstalled() {
  const installed = stamp(inRepository("node_modules", ".gennai-install"), () => contentFingerprint(manifests()));
  if (installed.isCurrent()) return;
  await withLock(inRepository(".cache", "install.lock"), async () => {
    if (installed.isCurrent()) return;
    const silent = process.env.npm_config_loglevel === "silent";
    if (!silent) process.stderr.write("Installing dependencies …\n");
    const made = installed.fingerprint();
    const args = [
      "-y",
      PNPM,
      "install",
      "--frozen-lockfile",
      "--reporter=append-only",
      "--config.confirmModulesPurge=false",
    ];
    const { code, output } = await run("npx", args, {
      cwd: root,
      output: silent ? "capture" : "stderr",
      shell: process.platform === "win32",
    });
    if (code !== 0) throw new Error(`${output}Installing dependencies failed (exit code ${code}).`);
    installed.write(made);
  });
}

/** What decides about the dependencies. */
function manifests() {
  const packages = packageDirectories().map((directory) => join(directory, "package.json"));
  const others = [
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ".pnpmfile.cjs",
    "test/package.json",
    "examples/client/package.json",
  ];
  return [...others.map((name) => inRepository(name)), ...packages];
}
