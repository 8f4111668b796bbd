import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bash } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { commandLine } from "../../../../packages/cli/test/test-console.ts";

const makesSecret = 'import fs from "node:fs"; fs.mkdirSync("dist"); fs.writeFileSync("dist/.env", "K");\n';

/** A repository whose session has run a command, by a server that has ended since. */
async function after(command: string, ignored: Readonly<Record<string, string>> = {}) {
  await using parts = new AsyncDisposableStack();
  const state = parts.use(await temporaryDirectory());
  const repository = parts.use(
    await temporaryRepository({ ".gitignore": "dist\nnode_modules\n", "make.mjs": makesSecret }),
  );
  for (const [path, text] of Object.entries(ignored)) await repository.write(path, text);
  const turns = [{ match: ".", steps: [bash(command), { text: ["Done."] }] }];
  await state.write("script.yaml", JSON.stringify({ turns }));
  const environment = { ...process.env, GENNAI_STATE_DIR: state.path("state"), NO_COLOR: "1" };
  const line = commandLine(repository.root, environment);
  const gennai = (...args: readonly string[]) => line(...args, "--server", "own");
  const script = state.path("script.yaml");
  const ran = await gennai("run", "--commands", "staged", "--backend", "scripted", "--model", script, "build it");
  expect(ran.code, ran.err).toBe(0);
  const owned = parts.move();
  return {
    repository,
    gennai,
    stateDir: state.path("state"),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

test("gennai stage lists what a session made that git ignores, and puts a tree of it into the workspace", async () => {
  await using place = await after(
    "mkdir -p dist/deep node_modules/x && echo 1 > dist/deep/a.js && echo 2 > node_modules/x/i.js",
  );
  const { repository, gennai } = place;
  const list = await gennai("stage", "list");
  expect(list.out).toMatch(/^session .*\n {2}dist {2}1 file, 2 bytes {2}[0-9a-f]{12}\n {4}by: mkdir -p dist/);
  expect(list.out).toContain("stage keep dist\n");
  const listed: { readonly trees: readonly { readonly path: string; readonly files: number }[] } = JSON.parse(
    (await gennai("stage", "list", "--json")).out,
  );
  expect(listed.trees.map(({ path, files }) => [path, files])).toEqual([
    ["dist", 1],
    ["node_modules", 1],
  ]);

  // Nobody is there to be asked.
  expect(await gennai("stage", "keep", "dist")).toMatchObject({ code: 3, out: "" });
  expect(existsSync(repository.path("dist"))).toBe(false);
  expect((await gennai("stage", "keep", "none", "--yes")).code).not.toBe(0);
  expect(await gennai("stage", "keep", "dist/", "--yes")).toMatchObject({
    code: 0,
    out: "dist: in the workspace now (1 file). Undo it: gennai undo.\n",
  });
  expect(await repository.read("dist/deep/a.js")).toBe("1\n");
  expect(existsSync(repository.path("node_modules"))).toBe(false);

  expect((await gennai("stage", "drop")).out).toBe("Dropped node_modules.\n");
  expect((await gennai("stage", "list")).out).toBe("No command has left anything that git ignores.\n");
});

test("what a rule asks about is said and waits for a yes, and what the user made there is not overwritten", async () => {
  await using place = await after("node make.mjs && mkdir node_modules && echo 1 > node_modules/i.js");
  const { repository, gennai, stateDir } = place;
  const refused = await gennai("stage", "keep", "dist");
  expect(refused.code).toBe(3);
  expect(refused.err).toContain("dist/.env has the name of a file that holds secrets.");
  expect(existsSync(repository.path("dist"))).toBe(false);
  writeFileSync(repository.path("node_modules"), "mine");
  expect((await gennai("stage", "keep", "node_modules", "--yes")).err).toContain("own node_modules changed since");
  expect(await repository.read("node_modules")).toBe("mine");
  const stages = join(stateDir, "stages");
  expect(readdirSync(stages).filter((name) => existsSync(join(stages, name, "committed.json")))).toEqual([]);
});

test("what was kept is taken back like an edit, also over the user's own files; what changed since stays", async () => {
  await using place = await after(
    "mkdir -p dist/deep && echo new > dist/a.js && echo 1 > dist/deep/x.js && mkdir -p node_modules/.bin && ln -s ../x node_modules/.bin/x",
    { "dist/a.js": "old\n" },
  );
  const { repository, gennai } = place;
  expect((await gennai("stage", "keep", "dist", "--yes")).code).toBe(0);
  expect(await repository.read("dist/a.js")).toBe("new\n");
  writeFileSync(repository.path("dist/deep/x.js"), "mine\n");
  expect((await gennai("undo")).code).not.toBe(0);
  expect([await repository.read("dist/a.js"), await repository.read("dist/deep/x.js")]).toEqual(["new\n", "mine\n"]);
  writeFileSync(repository.path("dist/deep/x.js"), "1\n");
  expect(await gennai("undo")).toMatchObject({ code: 0, out: expect.stringContaining("dist/a.js") });
  expect(await repository.read("dist/a.js")).toBe("old\n");
  expect(readdirSync(repository.path("dist"))).toEqual(["a.js"]);

  expect((await gennai("stage", "keep", "node_modules", "--yes")).out).toContain("Undo it: gennai undo");
  expect(readdirSync(repository.path("node_modules/.bin"))).toEqual(["x"]);
  expect((await gennai("undo")).code).toBe(0);
  expect(existsSync(repository.path("node_modules"))).toBe(false);
});
