import { packageRegistry } from "@gennai/testkit/package-registry";
import { bash } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { TestOutside } from "@gennai/testkit/test-outside";
import { startTestServer } from "@gennai/testkit/test-server";
import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { keptText } from "./kept-text.ts";
import { managersBelow } from "./services/package-managers.ts";

afterEach(() => vi.unstubAllEnvs());

const token = "npm_correcthorsebattery";

/** @param changed by the number of the line */
const lines = (changed: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 20 }, (_, index) => `${changed[index + 1] ?? `// line ${index + 1}`}\n`).join("");
const second = "export const name = 'dep';";
const nineteenth = "export const version = '1.0.0';";

/** What the build writes beside `dist`, which git ignores: two places of a file that is tracked. */
const generated = lines({ 2: second, 19: nineteenth });

const files = {
  ".gitignore": "node_modules\ndist\n",
  "package.json": JSON.stringify({
    name: "app",
    version: "1.0.0",
    dependencies: { dep: "1.0.0" },
    scripts: { build: "node build.mjs", test: "node --test built.test.mjs" },
  }),
  "generated.mjs": lines(),
  "build.mjs": `import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
const { name, version } = createRequire(import.meta.url)("dep/package.json");
const text = readFileSync("generated.mjs", "utf8")
  .replace("// line 2\\n", "export const name = '" + name + "';\\n")
  .replace("// line 19\\n", "export const version = '" + version + "';\\n");
writeFileSync("generated.mjs", text);
mkdirSync("dist", { recursive: true });
writeFileSync("dist/built.mjs", text);
`,
  "built.test.mjs": `import assert from "node:assert";
import test from "node:test";
import * as built from "./dist/built.mjs";
import * as generated from "./generated.mjs";
test("what was built", () => {
  assert.deepEqual({ ...built }, { name: "dep", version: "1.0.0" });
  assert.deepEqual({ ...generated }, { ...built });
});
`,
};

test("a project whose packages are private, from nothing with npm, by one yes", async () => {
  using registry = await packageRegistry(token);
  const host = `127.0.0.1:${registry.port}`;
  const tools = managersBelow("tools");
  await using home = await temporaryDirectory({
    ".npmrc": `registry=http://${host}/\n//${host}/:_authToken=${token}\n`,
    ...tools.files,
  });
  vi.stubEnv("HOME", home.root);
  tools.use(home);
  using outside = new TestOutside();
  outside.servers.set(host, registry.port);
  const commands = ["npm install", "npm run build", "npm test"];
  await using server = await startTestServer({
    files,
    script: [{ match: "go", steps: [...commands.map((command) => bash(command)), { text: ["Done."] }] }],
    server: { commands: "staged", outside },
  });
  const { workspace } = server;
  await using session = await AskedSession.start(server, { withinMs: 200_000 });
  const { questions, results } = await session.wholeTurn("once");
  const outputs = results.map(({ error, output }) => `${error}${output}`).join("\n");
  expect(
    questions.map(({ title, computed }) => `${title} ${computed?.reason}`),
    outputs,
  ).toEqual([expect.stringContaining(`Let npm install reach ${host} with the login of ~/.npmrc for //${host}/?`)]);
  expect(
    results.map(({ exitCode }) => exitCode),
    outputs,
  ).toEqual([0, 0, 0]);
  expect(results.at(-1)?.output).toMatch(/pass 1\b/);
  expect(registry.requests).toContain(`GET /dep/-/dep-1.0.0.tgz Bearer ${token}`);
  expect(registry.requests.filter((request) => request.includes("stolen"))).toEqual([]);
  expect(outputs).not.toContain(token);

  expect(await workspace.git("status", "--porcelain")).toBe(" M generated.mjs\n?? package-lock.json");
  expect(await workspace.read("generated.mjs")).toBe(generated);
  expect(await workspace.read("package-lock.json")).not.toContain(token);
  await server.running[Symbol.asyncDispose]();
  expect(keptText(server)).not.toContain(token);
});
