import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CopyBudget, spend } from "@gennai/stage/mount/copy-budget";
import { describe, expect, test } from "vitest";
import { testAsOneUser } from "../../../stage/test/as-users.ts";
import { inNamespaces } from "../../../stage/test/mount/in-namespaces.ts";
import { committing, observing } from "../../../stage/test/scenario-files.ts";
import { StageFixture } from "../../../stage/test/stage-fixture.ts";
import { scenarios as copyScenarios } from "./copy-scenarios.ts";

testAsOneUser(
  { file: new URL("copy-scenarios.ts", import.meta.url).href, scenarios: copyScenarios },
  { stagedBy: "copy" },
);

// What commands do is found and kept by comparing copies as it is by overlays.
for (const file of Object.values({ ...observing, ...committing })) testAsOneUser(file, { stagedBy: "copy", oneOf: 12 });

test("a tree that is too large is refused before more of it is copied", () => {
  const budget: CopyBudget = { entries: 2, bytes: 10 };
  spend(budget, "/w", 4);
  expect(() => spend(budget, "/w", 7)).toThrow(/too large to be copied/);
  expect(() => spend({ entries: 0, bytes: 10 }, "/w", 0)).toThrow(/too large to be copied/);
});

// Only root can make the mounts of these.
describe.runIf(process.getuid?.() === 0)("with mounts of others", () => {
  interface Result {
    readonly effects: Readonly<Record<string, string>>;
    readonly kept: string;
    readonly owner: number;
    readonly mounts: readonly string[];
  }
  const run = (fixture: StageFixture, mounts: string, command: string, users?: readonly number[]) => {
    writeFileSync(join(fixture.base, "command"), command);
    const program = new URL("copy-program.ts", import.meta.url);
    return inNamespaces<Result>(fixture, program, mounts, users === undefined ? {} : { users });
  };
  const write = "echo more >> a.txt; cat there/b.txt && echo more >> there/b.txt && echo new > there/new.txt";

  test("what lies on another file system is seen, and never kept", async () => {
    await using fixture = new StageFixture({ "a.txt": "a\n" });
    mkdirSync(join(fixture.root, "there"));
    const mount = 'mount -t tmpfs x "$1/there"; echo other > "$1/there/b.txt"';
    for (const [index, { effects, kept }] of run(fixture, mount, write).entries()) {
      expect(effects).toEqual({
        "a.txt": "changed",
        "there/b.txt": "changed elsewhere",
        "there/new.txt": "created elsewhere",
      });
      expect(kept).toBe(`a\n${"more\n".repeat(index + 1)}`);
    }
  });

  test("no directory carries away what is mounted in it, be it of the same disk or a file", async () => {
    await using fixture = new StageFixture({
      "a.txt": "a\n",
      "from/b.txt": "b\n",
      "holder/bound/none": "",
      "holder/file": "",
    });
    const mount = 'mount --bind "$1/from" "$1/holder/bound"; mount --bind "$1/a.txt" "$1/holder/file"';
    const anew = "rm -r holder; mkdir holder; for i in $(seq 12); do echo $i > holder/$i; done; echo more >> a.txt";
    for (const command of [
      anew,
      "echo more >> a.txt; mv holder moved",
      "echo more >> a.txt; rm -r holder; echo file > holder",
    ]) {
      const [result] = run(fixture, mount, command, [0]);
      expect(result?.mounts.toSorted()).toEqual(["holder/bound", "holder/file"]);
      expect(result?.effects).toMatchObject({
        "a.txt": "changed",
        "holder/bound/b.txt": "deleted elsewhere",
        "holder/file": "deleted elsewhere",
      });
      expect(fixture.read("from/b.txt")).toBe("b\n");
    }
    expect(fixture.read("a.txt")).toBe(`a\n${"more\n".repeat(3)}`);
  });

  test("what root changes stays with its owner", async () => {
    await using fixture = new StageFixture({ "a.txt": "a\n" });
    mkdirSync(join(fixture.root, "there"));
    writeFileSync(join(fixture.root, "there/b.txt"), "other\n");
    const [result] = run(fixture, 'chown -R 4711:4711 "$1"', write, [0]);
    expect(result).toMatchObject({ kept: "a\nmore\n", owner: 4711 });
  });

  test("where times of changes say little, bytes are compared", async () => {
    await using fixture = new StageFixture({});
    const memory =
      'cp "$2/command" /mnt/command; mount -t tmpfs x "$2"; chmod 755 "$2"; mkdir "$1" "$2/state"; cp /mnt/command "$2/"';
    const make = 'cd "$1"; echo a > a.txt; echo b > b.txt; mkdir there; echo x > there/b.txt; ln -s a.txt l';
    const command = `touch b.txt; chmod 600 there/b.txt; rm l; ln -s b.txt l; ${write}; rm there/b.txt`;
    for (const { effects, kept } of run(fixture, `${memory}; ${make}; rm /mnt/command`, command)) {
      expect(effects).toEqual({
        "a.txt": "changed",
        l: "changed",
        "there/b.txt": "deleted",
        "there/new.txt": "created",
      });
      expect(kept).toBe("a\nmore\n");
    }
  });

  test("a workspace that grew too large is remembered, and nothing runs there without its stage", async () => {
    await using fixture = new StageFixture({ "a.txt": "a\n", "there/b.txt": "" });
    const results = inNamespaces<readonly string[]>(
      fixture,
      new URL("stages-program.ts", import.meta.url),
      'mount -t tmpfs x "$1/there"',
    );
    const large = ["too_large", "throws: too_large"];
    for (const said of results) {
      expect(said).toEqual([
        "staged: mount_inside",
        "runs",
        "staged: mount_inside",
        "throws: too_large",
        ...large,
        ...large,
      ]);
    }
  });
});
