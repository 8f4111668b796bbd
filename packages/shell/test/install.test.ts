import { existsSync } from "node:fs";
import { join } from "node:path";
import { packageRegistry } from "@gennai/testkit/package-registry";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stagingMachine } from "./staging-machine.ts";

test("an install fetches without scripts; then they run as npm runs them, where there is no network", async () => {
  using packages = await packageRegistry();
  await using machine = await stagingMachine();
  await using workspace = await temporaryRepository({
    ".npmrc": `registry=http://127.0.0.1:${packages.port}/\naudit=false\nfund=false\n`,
    "package.json": JSON.stringify({
      name: "project",
      version: "1.0.0",
      dependencies: { dep: "1.0.0" },
      scripts: { preinstall: "echo pre >> order.txt", postinstall: "cat node_modules/dep/ran.txt >> order.txt" },
    }),
  });
  const { run, ...staged } = await machine.run(workspace.root, "npm install", true, undefined, [
    { host: "127.0.0.1", port: packages.port },
  ]);
  expect(run.output).toContain("added 1 package");
  expect(run.exitCode).toBe(0);
  await staged.keep(new Set());
  const order = await workspace.read("order.txt");
  expect(order).toMatch(/^pre\nran proxy= \nno: ECONNREFUSED\n$/);
  expect(packages.requests).toContain("GET /dep/-/dep-1.0.0.tgz nobody");
  expect(packages.requests.filter((request) => request.includes("stolen"))).toEqual([]);
});

test("of a package that is named, only packages' scripts run", async () => {
  using packages = await packageRegistry();
  await using machine = await stagingMachine();
  await using workspace = await temporaryRepository({
    ".npmrc": `registry=http://127.0.0.1:${packages.port}/\naudit=false\nfund=false\n`,
    "package.json": JSON.stringify({
      name: "project",
      version: "1.0.0",
      scripts: { postinstall: "echo own > own.txt" },
    }),
  });
  const reached = [{ host: "127.0.0.1", port: packages.port }];
  const { run, ...staged } = await machine.run(workspace.root, "npm install dep", true, undefined, reached);
  expect(run.exitCode).toBe(0);
  await staged.keep(new Set());
  expect(await workspace.read("node_modules/dep/ran.txt")).toMatch(/^ran proxy= \nno: ECONNREFUSED\n$/);
  expect(existsSync(workspace.path("own.txt"))).toBe(false);
  expect(packages.requests.filter((request) => request.includes("stolen"))).toEqual([]);
});

test("what scripts leave in caches goes with their run; what was fetched before stays for the session", async () => {
  using packages = await packageRegistry();
  await using machine = await stagingMachine(undefined, { ".npm/_cacache/tmp/x": "x\n" });
  const [npm, tools] = [join(machine.home, ".npm/_cacache"), join(machine.home, ".local/share/pnpm")];
  const changed = `find ${npm}/content-v2 -type f | head -n 1`;
  const postinstall = [
    `mkdir -p ${tools} && echo evil > ${tools}/cargo && mkdir ${npm}/late && cp ${tools}/cargo ${npm}/index-v5/late`,
    `f=$(${changed}) && chmod u+w $f && echo evil > $f && echo yes > wrote.txt`,
  ].join(" && ");
  await using workspace = await temporaryRepository({
    ".npmrc": `registry=http://127.0.0.1:${packages.port}/\naudit=false\nfund=false\n`,
    "package.json": JSON.stringify({
      name: "project",
      version: "1.0.0",
      dependencies: { dep: "1.0.0" },
      scripts: { postinstall },
    }),
  });
  const reached = [{ host: "127.0.0.1", port: packages.port }];
  const { run, ...staged } = await machine.run(workspace.root, "npm install", false, "one", reached);
  expect(run.exitCode).toBe(0);
  await staged.keep(new Set());
  expect(await workspace.read("wrote.txt")).toBe("yes\n");
  const look = `find ${npm} -type f | grep -c index-v5; grep -rl evil ${npm} ${tools}; ls -d ${npm}/late ${tools}/cargo`;
  const later = await machine.run(workspace.root, look, false, "one");
  await later.drop();
  expect(later.run.output).toMatch(/^[1-9]\d*\n(?:(?:grep|ls): [^\n]*No such file or directory\n)*$/);
});

test("a script that fails is the install's failure; one that was told to run none runs none", async () => {
  using packages = await packageRegistry();
  await using machine = await stagingMachine();
  await using workspace = await temporaryRepository({
    ".npmrc": `registry=http://127.0.0.1:${packages.port}/\naudit=false\nfund=false\n`,
    "package.json": JSON.stringify({ name: "project", version: "1.0.0", scripts: { postinstall: "exit 3" } }),
  });
  const reached = [{ host: "127.0.0.1", port: packages.port }];
  const failed = await machine.run(workspace.root, "npm install", true, undefined, reached);
  expect(failed.run.exitCode).toBe(3);
  await failed.drop();
  const none = await machine.run(workspace.root, "npm install dep --ignore-scripts", true, undefined, reached);
  expect(none.run.exitCode).toBe(0);
  expect(none.run.output).not.toContain("rebuilt");
  await none.drop();
});
