import { existsSync, readdirSync } from "node:fs";
import { packageRegistry } from "@gennai/testkit/package-registry";
import { type Files, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { startTestServer } from "@gennai/testkit/test-server";
import { afterEach, describe, expect, test, vi } from "vitest";
import { AskedSession } from "./asked-session.ts";

afterEach(() => vi.unstubAllEnvs());
// Three runs of npm, one of them twice.
vi.setConfig({ testTimeout: 240_000 });

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

/** Projects as they come from a clone: nothing is installed, nothing is built. */
const projects: readonly (readonly [name: string, files: Files])[] = [
  [
    "one package",
    {
      "package.json": json({
        name: "one",
        version: "1.0.0",
        dependencies: { dep: "^1.0.0" },
        scripts: { build: "node build.mjs", test: "node --test" },
      }),
      "build.mjs": build,
      "built.test.mjs": tested("./dist/built.mjs"),
    },
  ],
  [
    "workspaces that need each other",
    {
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
    },
  ],
];

describe.each(projects)("a project from nothing, %s", (_name, files) => {
  test.each([
    ["Branch Mode", false],
    ["Proposal Mode", true],
  ])("is installed by one yes, built and tested, in %s", async (_mode, proposal) => {
    using registry = await packageRegistry();
    const { port } = registry;
    await using home = await temporaryDirectory();
    vi.stubEnv("HOME", home.root);
    using outside = new TestOutside();
    outside.servers.set(`127.0.0.1:${port}`, port);
    const commands = ["npm install", "npm run build", "npm test"];
    await using server = await startTestServer({
      files: { ...files, ".npmrc": `registry=http://127.0.0.1:${port}/\n`, ".gitignore": "node_modules\ndist\n" },
      script: [
        {
          match: ".",
          steps: [...commands.map((command) => ({ tool: { name: "Bash", args: { command } } })), { text: ["Done."] }],
        },
      ],
      server: { sandbox: "required", stages: "required", outside },
    });
    const { workspace } = server;
    const before = readdirSync(workspace.root);
    await using session = await AskedSession.start(server, { proposal });
    const { questions, results } = await session.wholeTurn("once");

    const [installed, builtOutput, testedOutput] = results.map(({ error, output }) => `${error}${output}`);
    expect(
      questions.map(({ title }) => title),
      installed,
    ).toEqual([`Let npm install reach 127.0.0.1:${port}?`]);
    expect(
      results.map(({ exitCode }) => exitCode),
      `${installed}${builtOutput}${testedOutput}`,
    ).toEqual([0, 0, 0]);
    expect(builtOutput).toMatch(/^built$/m);
    expect(testedOutput).toMatch(/pass 1\b/);
    // The package's own script ran, and behind the way to the registry.
    expect(registry.requests.filter((request) => request.includes("/dep"))).not.toEqual([]);
    expect(registry.requests.filter((request) => request.includes("stolen"))).toEqual([]);
    // What git ignores is the session's; what it does not is the workspace's in the one mode, and proposed in the other.
    const added = readdirSync(workspace.root).filter((name) => !before.includes(name) && name !== ".orchestration");
    expect(added).toEqual(proposal ? [] : ["package-lock.json"]);
    expect(session.proposedPaths()).toEqual(proposal ? ["package-lock.json"] : []);
    expect(existsSync(home.path(".npm"))).toBe(false);
  });
});
