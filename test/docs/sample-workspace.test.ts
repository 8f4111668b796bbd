import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { delimiter, join, sep } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, onTestFinished, test } from "vitest";
import { repository } from "./run/page-home.ts";

const sample = join(repository, "examples", "sample-workspace");

test("the sample asks for no newer Node than Gennai does", () => {
  const wanted = (directory: string): unknown =>
    JSON.parse(readFileSync(join(directory, "package.json"), "utf8")).engines;
  expect(wanted(sample)).toEqual(wanted(repository));
  // Only newer ones run TypeScript as it is.
  expect(globSync("**/*.{ts,mts,cts,tsx}", { cwd: sample })).toEqual([]);
});

test("its tests pass and its program runs, under the Node of the one who starts Gennai", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  await cp(sample, directory.path("colours"), { recursive: true });
  const npm = async (...args: readonly string[]) => {
    const options = { cwd: directory.path("colours"), env: { PATH: ownPath(), HOME: directory.root } };
    return (await promisify(execFile)("npm", args, options)).stdout;
  };
  // TAP or symbols, as the version of Node has it.
  expect(await npm("test")).toMatch(/^\S+ pass [1-9]\d*\n\S+ fail 0$/m);
  const page = await npm("--silent", "start", "--", "docs/palette.json");
  expect(page).toContain("--colour-accent: #c2410c;");
  expect(page).toContain('color: #ffffff">accent<br>#c2410c</li>');
});

/** Without what npm and the tests put before it: the repository's own Node is newer than the one it asks for. */
function ownPath(): string {
  const entries = (process.env["PATH"] ?? "").split(delimiter);
  return entries.filter((entry) => !entry.includes(join(sep, "node_modules", ".bin"))).join(delimiter);
}
