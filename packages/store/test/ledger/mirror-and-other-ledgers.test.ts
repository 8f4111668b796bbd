import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { StoreFixture } from "../sqlite/store-fixture.ts";
import { MirrorBench } from "./mirror-bench.ts";

let bench: MirrorBench;
beforeEach(async () => {
  bench = await MirrorBench.create();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe("a file that is another state directory's ledger", () => {
  it.each<[string, string[]]>([
    ["is theirs alone", ["theirs"]],
    ["is theirs, with a last line half written", ["theirs", "torn"]],
  ])("is left to it, and read on by it: it %s", async (_name, parts) => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(3);
    await bench.fixture.record(bench.store, 2);
    const texts: Readonly<Record<string, string>> = {
      ours: await bench.mirrorText(),
      theirs: await readFile(other.mirror, "utf8"),
      torn: '{"id":"',
    };
    const usual = parts.map((part) => texts[part]).join("");
    await writeFile(bench.fixture.mirror, usual);
    await bench.fixture.record(bench.store, 1);
    await bench.fixture.record(bench.store, 1);
    expect(await bench.mirrorText()).toBe(usual);
    await bench.expectSound(4);
    expect(await bench.recovered()).toEqual([]);
    expect(bench.fixture.warnings).toEqual([expect.stringContaining("stays as it is")]);
  });

  it.each<[string, string[]]>([
    ["after it", ["theirs", "ours", "ours"]],
    ["before it", ["ours", "theirs"]],
    ["before one made-up beginning", ["ours", "madeUp"]],
    ["between two", ["madeUp", "ours", "madeUp"]],
  ])("is none when a record of ours stands %s: it is kept, and written anew in its place", async (_name, parts) => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(3);
    await bench.fixture.record(bench.store, 2);
    const theirs = await readFile(other.mirror, "utf8");
    const texts: Readonly<Record<string, string>> = {
      ours: await bench.mirrorText(),
      theirs,
      madeUp: theirs.slice(0, theirs.indexOf("\n") + 1),
    };
    const mixed = parts.map((part) => texts[part]).join("");
    await writeFile(bench.fixture.mirror, mixed);
    await bench.fixture.record(bench.store, 1);
    await bench.expectSound(3);
    expect(await bench.recovered()).toEqual([mixed]);
    expect(await readdir(dirname(bench.fixture.mirror))).toEqual([".gitignore", "agent_trace.jsonl"]);
    expect(bench.fixture.warnings).toEqual([expect.stringContaining("was changed")]);
  });

  it("is hidden from git together with ours beside it", async () => {
    await using other = await StoreFixture.create();
    await other.recordAndClose(1);
    execFileSync("git", ["init", "-q"], { cwd: bench.fixture.root });
    await mkdir(dirname(bench.fixture.mirror));
    await writeFile(bench.fixture.mirror, await readFile(other.mirror));
    await bench.fixture.record(bench.store, 1);
    expect(await readdir(dirname(bench.fixture.mirror))).toHaveLength(3);
    expect(execFileSync("git", ["status", "--porcelain"], { cwd: bench.fixture.root, encoding: "utf8" })).toBe("");
  });
});
