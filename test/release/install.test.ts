import { execFile } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";

const checkout = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

test("one command of the checkout installs a gennai that changes a project and takes it back; npm removes it", async () => {
  await using prefix = await temporaryDirectory();
  await using home = await temporaryDirectory();
  await using project = await temporaryRepository({ "a.txt": "colour\n" });
  const npm = (...args: readonly string[]) =>
    run("npm", [...args], { cwd: checkout, env: { ...process.env, NPM_CONFIG_PREFIX: prefix.root } });
  const { stdout } = await npm("run", "pack", "--", "--install");
  for (const [name] of stdout.matchAll(/^gennai-\S+\.tgz/gm)) rmSync(join(checkout, name));
  expect(stdout).toContain("Installed: gennai --version");
  const program = join(prefix.root, "bin", "gennai");
  const gennai = async (...args: readonly string[]) => {
    const env = { PATH: `${prefix.path("bin")}:${process.env["PATH"] ?? ""}`, HOME: home.root };
    return (await run(program, [...args], { cwd: project.root, env })).stdout;
  };
  await gennai("run", "--yes", "replace colour with color in *.txt");
  expect(await project.read("a.txt")).toBe("color\n");
  await gennai("undo");
  expect(await project.read("a.txt")).toBe("colour\n");
  await npm("uninstall", "--global", "gennai");
  expect(existsSync(program)).toBe(false);
});
