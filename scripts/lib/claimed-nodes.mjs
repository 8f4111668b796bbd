import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { withLock } from "./lock.mjs";
import { inRepository, root } from "./repository.mjs";
import { run } from "./run.mjs";

/**
 * Versions of Node on which Gennai is said to run, besides the packaged one: the oldest, and the newest of its line and of the next.
 * With the digests of npm's packages for Linux, as npm writes them.
 */
const claimed = {
  "22.13.1": {
    x64: "sha512-lNYJVOFccMJbP4/pZHUMi4nBVdeP3MzaPuVSNhMbsdpZ1VCmWm8bti4s9hMPMCr7NMXvv2Pg0QCiWrttXLg4uQ==",
    arm64: "sha512-HmhDj+W9hpVsDffCv0W1hglW7oS0L9UN+mDbzrbew9UJVtFQTErR0PeyQ/JwJmexXDbiLJv5FFzTb3Qa6rwqtg==",
  },
  "22.23.3": {
    x64: "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
    arm64: "sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==",
  },
  "26.10.0": {
    x64: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
    arm64: "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
  },
};

export const claimedVersions = Object.keys(claimed);

/** @typedef {{ version: string, program: string | undefined }} ClaimedNode `program`: absolute path; undefined when it cannot be had here */

/**
 * Makes sure that each of them is there, in `.cache/nodes`; about 50 MB each come from npm once. It is said what is missing.
 * @returns {Promise<readonly ClaimedNode[]>}
 */
export async function ensureClaimedNodes() {
  const nodes = [];
  for (const version of claimedVersions) {
    const program = await ensureNode(/** @type {keyof typeof claimed} */ (version)).catch((error) => {
      process.stderr.write(`Node ${version} is not here: ${error instanceof Error ? error.message : String(error)}\n`);
      return undefined;
    });
    nodes.push({ version, program });
  }
  return nodes;
}

/** @param {keyof typeof claimed} version @returns {Promise<string>} absolute path */
async function ensureNode(version) {
  const digest = new Map(Object.entries(claimed[version])).get(process.arch);
  if (process.platform !== "linux" || digest === undefined) throw new Error("only Linux's are fetched.");
  const program = inRepository(".cache", "nodes", version, "node");
  return withLock(inRepository(".cache", "nodes.lock"), async () => {
    if (!existsSync(program)) await fetchNode(version, digest, program);
    return program;
  });
}

/** @param {string} version @param {string} digest @param {string} program where it goes */
async function fetchNode(version, digest, program) {
  const directory = dirname(program);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  process.stderr.write(`Fetching Node ${version} …\n`);
  const name = `node-linux-${process.arch}`;
  await must("npm", ["pack", `${name}@${version}`, "--silent", "--pack-destination", directory]);
  const archive = join(directory, `${name}-${version}.tgz`);
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== digest) throw new Error(`${name}@${version} is not what it was: ${found}.`);
  await must("tar", ["-xzf", archive, "-C", directory, "package/bin/node"]);
  rmSync(archive);
  renameSync(join(directory, "package", "bin", "node"), program);
}

/** @param {string} program @param {readonly string[]} args */
async function must(program, args) {
  const { code, output } = await run(program, args, { cwd: root, output: "capture" });
  if (code !== 0) throw new Error(`${program} ${args[0]} failed: ${output.trim().slice(-500)}`);
}
