import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stagingMachine } from "../staging-machine.ts";

const files = { "a.txt": "1\n", ".gitignore": "dist\n" };
const both = "echo 2 > a.txt; mkdir dist; echo built > dist/x.js";

/** Directories of the state directory that hold what a command did. */
function withWork(stateDir: string): readonly string[] {
  const stages = join(stateDir, "stages");
  return readdirSync(stages)
    .map((name) => join(stages, name, "root-0"))
    .filter((root) => ["upper", "old", "layer"].some((part) => holds(join(root, part))));
}

function holds(path: string): boolean {
  return existsSync(path) && readdirSync(path).length > 0;
}

test("where nothing can be taken for the layer, nothing is kept, and nothing is left", async () => {
  await using machine = await stagingMachine();
  await using repository = await temporaryRepository(files);
  const staged = await machine.run(repository.root, both, false, "s1");
  const [work = ""] = withWork(machine.stateDir);
  writeFileSync(join(work, "layer"), "in the way");
  await expect(staged.keep(new Set())).rejects.toThrow(/EEXIST|ENOTDIR/);
  expect(await repository.read("a.txt")).toBe("1\n");
  expect(existsSync(work)).toBe(false);
});

test("what was kept is told, also where the layer cannot be added to; the next start has what is left", async () => {
  await using machine = await stagingMachine();
  await using repository = await temporaryRepository(files);
  const staged = await machine.run(repository.root, both, false, "s1");
  writeFileSync(join(machine.stateDir, "layers"), "in the way");
  const { changes, notInLayer } = await staged.keep(new Set());
  expect(await repository.read("a.txt")).toBe("2\n");
  expect(changes).toMatchObject([{ path: "a.txt", operation: "update" }]);
  expect(notInLayer).toMatch(/EEXIST|ENOTDIR/);
  expect(withWork(machine.stateDir)).toHaveLength(1);
  rmSync(join(machine.stateDir, "layers"));
  const next = await machine.run(repository.root, `${both}; echo 3 > a.txt`, false, "s1");
  expect((await next.keep(new Set())).notInLayer).toBeUndefined();
  expect(await repository.read("a.txt")).toBe("3\n");
});

test("where only the layer would have more, nothing is left", async () => {
  await using machine = await stagingMachine();
  await using repository = await temporaryRepository(files);
  const staged = await machine.run(repository.root, "mkdir dist; echo built > dist/x.js", false, "s1");
  writeFileSync(join(machine.stateDir, "layers"), "in the way");
  expect(await staged.keep(new Set())).toMatchObject({ changes: [], notInLayer: expect.stringMatching(/^E/) });
  expect(withWork(machine.stateDir)).toEqual([]);
});
