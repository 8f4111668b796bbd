import { execFile } from "node:child_process";
import { cp, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { deployFile } from "./deploy-files.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..");

// Whether a line of the ignore file means the path: with two stars before it in any directory, else from the root on.
function isIgnored(path: string, patterns: readonly string[]): boolean {
  const parts = path.split("/");
  return patterns.some((pattern) => {
    if (!pattern.startsWith("**/")) return parts[0] === pattern;
    const name = pattern.slice(3).replace(/^\*/, "");
    return pattern.startsWith("**/*") ? (parts.at(-1) ?? "").endsWith(name) : parts.includes(name);
  });
}

test("what goes into the image is enough to build it, and what is built serves", async () => {
  const patterns = deployFile("Containerfile.dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  await using context = await temporaryDirectory();
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  const files = stdout.split("\0").filter((path) => path !== "" && !isIgnored(path, patterns));
  for (const path of files) {
    await mkdir(dirname(context.path(path)), { recursive: true });
    // A file that is deleted and not yet committed is in no context either.
    await cp(join(root, path), context.path(path)).catch(() => undefined);
  }
  expect(files.some((path) => path.startsWith("packages/server/src/"))).toBe(true);
  expect(files.filter((path) => /(^|\/)(node_modules|\.git)\//.test(path))).toEqual([]);

  // What `pnpm install` would make: packages of others once, those of the project as links into the context.
  await symlink(join(root, "node_modules"), context.path("node_modules"));
  for (const name of await readdir(context.path("packages"))) {
    const links = join(root, "packages", name, "node_modules");
    await cp(links, context.path(`packages/${name}/node_modules`), { recursive: true, verbatimSymlinks: true });
  }
  const containerfile = deployFile("Containerfile");
  expect(containerfile).toContain("node scripts/build.mjs");
  expect(containerfile).toContain("COPY --from=build --chown=0:0 /src/dist /opt/gennai");
  await run(process.execPath, ["scripts/build.mjs"], { cwd: context.root });
  await run("rm", ["-rf", "dist/node_modules"], { cwd: context.root });
  const help = await run(process.execPath, ["dist/gennai.mjs", "serve", "--help"], { cwd: context.root });
  expect(help.stdout).toContain("--behind-proxy");
});
