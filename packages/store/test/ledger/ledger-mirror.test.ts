import { appendFile, lstat, mkdir, rename, rm, truncate, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { MirrorBench } from "./mirror-bench.ts";

let bench: MirrorBench;
beforeEach(async () => {
  bench = await MirrorBench.create();
});
afterEach(() => bench[Symbol.asyncDispose]());

it("appears by itself soon after a commit, and on disposal at the latest", async () => {
  await bench.fixture.record(bench.store, 1);
  const first = await bench.mirrorText();
  expect(first.split("\n")).toHaveLength(2);
  await bench.store[Symbol.asyncDispose]();
  await bench.fixture.recordAndClose(2);
  await bench.reopen();
  expect((await bench.mirrorText()).startsWith(first)).toBe(true);
  await bench.expectSound(3);
  expect(bench.fixture.warnings).toEqual([]);
});

it.each<[string, (path: string) => Promise<void>, string[], boolean]>([
  ["lost", (path) => rm(path), ["was gone"], false],
  ["lost with its directory", (path) => rm(dirname(path), { recursive: true }), ["was gone"], false],
  ["moved away by log rotation", (path) => rename(path, `${path}.1`), ["was gone"], false],
  ["emptied", (path) => truncate(path, 0), ["was gone"], false],
  ["cut in the middle of a line", async (path) => truncate(path, (await lstat(path)).size - 30), [], false],
  [
    "cut by whole lines",
    async (path) => truncate(path, Buffer.byteLength((await bench.mirrorText()).split("\n")[0] ?? "") + 1),
    [],
    false,
  ],
  ["longer than it should be", (path) => appendFile(path, "garbage\n"), ["was changed"], true],
  [
    "of the right size with another last line",
    async (path) => writeFile(path, (await bench.mirrorText()).replace(/.\n$/, "!\n")),
    ["was changed"],
    true,
  ],
  ["something else", (path) => writeFile(path, "x".repeat(300)), ["was changed"], true],
  [
    "cut, and other before the cut",
    async (path) => writeFile(path, (await bench.mirrorText()).slice(0, -700).replaceAll("turn-", "TURN-")),
    ["was changed"],
    true,
  ],
])("is mended byte for byte when it is %s", async (_name, spoil, warnings, kept) => {
  await bench.fixture.record(bench.store, 5);
  const whole = await bench.mirrorText();
  await spoil(bench.fixture.mirror);
  const spoilt = await bench.mirrorText().catch(() => "");
  await bench.fixture.record(bench.store, 1);
  expect((await bench.mirrorText()).startsWith(whole)).toBe(true);
  await bench.expectSound(6);
  expect(bench.fixture.warnings).toHaveLength(warnings.length);
  for (const [index, text] of warnings.entries()) expect(bench.fixture.warnings[index]).toContain(text);
  expect(await bench.recovered()).toEqual(kept ? [spoilt] : []);
});

it("keeps what was in the file before Gennai came, and vouches for it", async () => {
  await mkdir(dirname(bench.fixture.mirror));
  await writeFile(bench.fixture.mirror, '{"id":"1","files":[{"relative_path":"a"}]}\n{"id":"2","fi');
  await bench.fixture.record(bench.store, 2);
  expect(await bench.mirrorText()).toMatch(/^\{"id":"1","files":\[\{"relative_path":"a"\}\]\}\n\{"id":"2","fi\n\{/);
  await bench.expectSound(2);
  await rm(bench.fixture.mirror);
  await bench.fixture.record(bench.store, 1);
  expect(await bench.mirrorText()).toMatch(/^\{"id":"1"/);
  await bench.expectSound(3);
});

it("is shared by several stores", async () => {
  const others = [await bench.fixture.open(), await bench.fixture.open()];
  for (let round = 0; round < 10; round++) {
    for (const each of [bench.store, ...others]) void bench.fixture.record(each, 3);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  for (const each of others) await each[Symbol.asyncDispose]();
  await bench.fixture.record(bench.store, 1);
  await bench.expectSound(91);
  expect(bench.fixture.warnings).toEqual([]);
});
