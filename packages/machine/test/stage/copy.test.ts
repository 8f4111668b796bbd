import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type CopyBudget, spend } from "#stage/copied-tree";
import { testAsUsers } from "./as-users.ts";
import { inNamespaces } from "./in-namespaces.ts";
import { scenarios as layerScenarios } from "./layer-scenarios.ts";
import { scenarios as observeScenarios } from "./observe-scenarios.ts";
import { StageFixture } from "./stage-fixture.ts";

// What commands do is found and kept by comparing copies as it is by overlays.
testAsUsers(new URL("observe-scenarios.ts", import.meta.url).href, observeScenarios, "copy");
testAsUsers(new URL("layer-scenarios.ts", import.meta.url).href, layerScenarios, "copy");

test("a tree that is too large is refused before more of it is copied", () => {
  const budget: CopyBudget = { entries: 2, bytes: 10 };
  spend(budget, "/w", 4);
  expect(() => spend(budget, "/w", 7)).toThrow(/too much to be copied/);
  expect(() => spend({ entries: 0, bytes: 10 }, "/w", 0)).toThrow(/too much to be copied/);
});

// Only root can make the mounts of these.
describe.runIf(process.getuid?.() === 0)("with mounts of others", () => {
  const program = new URL("copy-program.ts", import.meta.url);
  const run = (fixture: StageFixture, commands: string, users?: readonly number[]) =>
    inNamespaces<{ readonly effects: Readonly<Record<string, string>>; readonly kept: string; readonly owner: number }>(
      fixture,
      program,
      commands,
      users === undefined ? {} : { users },
    );

  test("what lies on another file system is seen, and never kept", async () => {
    await using fixture = new StageFixture({ "a.txt": "a\n" });
    mkdirSync(join(fixture.root, "there"));
    const mount = 'mount -t tmpfs x "$1/there"; echo other > "$1/there/b.txt"';
    for (const [index, { effects, kept }] of run(fixture, mount).entries()) {
      expect(effects).toEqual({
        "a.txt": "changed",
        "there/b.txt": "changed elsewhere",
        "there/new.txt": "created elsewhere",
      });
      expect(kept).toBe(`a\n${"more\n".repeat(index + 1)}`);
    }
  });

  test("what root changes stays with its owner", async () => {
    await using fixture = new StageFixture({ "a.txt": "a\n" });
    mkdirSync(join(fixture.root, "there"));
    writeFileSync(join(fixture.root, "there/b.txt"), "other\n");
    const [result] = run(fixture, 'chown -R 4711:4711 "$1"', [0]);
    expect(result).toMatchObject({ kept: "a\nmore\n", owner: 4711 });
  });
});
