import { existsSync } from "node:fs";
import { packageRegistry } from "@gennai/testkit/package-registry";
import { type Files, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, expect, test, vi } from "vitest";
import { fromNothing } from "../../../effects/runs/from-nothing.ts";

afterEach(() => vi.unstubAllEnvs());

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

const build = `import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
const { version } = createRequire(import.meta.url)("dep/package.json");
mkdirSync("dist", { recursive: true });
writeFileSync("dist/built.mjs", "export const built = " + JSON.stringify("with dep " + version) + ";\\n");
console.log("built");
`;

const tested = (from: string) => `import assert from "node:assert";
import test from "node:test";
import { built } from "${from}";
test("what was built", () => assert.equal(built, "with dep 1.0.0"));
`;

/** Workspaces that need each other, as they come from a clone: nothing is installed, nothing is built. */
const files: Files = {
  "package.json": json({
    name: "many",
    private: true,
    workspaces: ["packages/*"],
    scripts: { build: "npm run build --workspaces --if-present", test: "npm test --workspaces --if-present" },
  }),
  "packages/core/package.json": json({
    name: "core",
    version: "1.0.0",
    exports: "./dist/built.mjs",
    dependencies: { dep: "1.0.0" },
    scripts: { build: "node build.mjs" },
  }),
  "packages/core/build.mjs": build,
  "packages/app/package.json": json({
    name: "app",
    version: "1.0.0",
    dependencies: { core: "1.0.0" },
    scripts: { test: "node --test" },
  }),
  "packages/app/core.test.mjs": tested("core"),
};

test("a project from nothing is installed by one yes, built and tested, in both modes", async () => {
  using registry = await packageRegistry();
  const { port } = registry;
  await using home = await temporaryDirectory();
  vi.stubEnv("HOME", home.root);
  using outside = new TestOutside();
  outside.servers.set(`127.0.0.1:${port}`, port);
  await using project = await temporaryRepository({
    ...files,
    ".npmrc": `registry=http://127.0.0.1:${port}/\n`,
    ".gitignore": "node_modules\ndist\n",
  });
  const runs = await fromNothing(project.root, ["npm install", "npm run build", "npm test"], outside);
  expect(runs.map(({ mode }) => mode)).toEqual(["branch", "proposal"]);
  for (const { mode, questions, commands, added, proposed } of runs) {
    const outputs = commands.map(({ output }) => output);
    expect(questions, outputs[0]).toEqual([`Let npm install reach 127.0.0.1:${port}?`]);
    expect(
      commands.map(({ exitCode }) => exitCode),
      outputs.join(""),
    ).toEqual([0, 0, 0]);
    expect(outputs[1]).toMatch(/^built$/m);
    expect(outputs[2]).toMatch(/pass 1\b/);
    // What git ignores is the session's; what it does not is the workspace's in the one mode, and proposed in the other.
    expect(added).toEqual(mode === "proposal" ? [] : ["package-lock.json"]);
    expect(proposed).toEqual(mode === "proposal" ? ["package-lock.json"] : []);
  }
  // The package's own script ran, and behind the way to the registry.
  expect(registry.requests.filter((request) => request.includes("/dep"))).not.toEqual([]);
  expect(registry.requests.filter((request) => request.includes("stolen"))).toEqual([]);
  expect(existsSync(home.path(".npm"))).toBe(false);
});
