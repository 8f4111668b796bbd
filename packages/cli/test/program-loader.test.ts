import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { builtProgram } from "@gennai/testkit/built-program";
import { type TemporaryDirectory, temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, beforeEach, expect, it } from "vitest";

const program = builtProgram(new URL("../src/main.ts", import.meta.url));

let place: TemporaryDirectory;
beforeEach(async () => {
  place = await temporaryDirectory();
});
afterEach(() => place[Symbol.asyncDispose]());

function gennai(...args: readonly string[]) {
  return gennaiIn({}, ...args);
}

function gennaiIn(more: Readonly<Record<string, string>>, ...args: readonly string[]) {
  mkdirSync(place.path("work"), { recursive: true });
  const environment = {
    HOME: place.root,
    GENNAI_STATE_DIR: place.path("state"),
    NODE_COMPILE_CACHE: place.path("kept"),
  };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: place.path("work"),
    env: { ...process.env, ...environment, ...more },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** Of the bundles; Node keeps what it compiled of main.mjs in a directory beside them. */
const kept = (): readonly string[] => {
  try {
    return readdirSync(place.path("kept"))
      .filter((name) => /^(?:program|rest)-/.test(name))
      .toSorted();
  } catch {
    return [];
  }
};
const judged = ["policy", "check", "git push --force"] as const;

it("keeps what a command compiled, of both bundles, and takes it from there the next time", () => {
  const first = gennai(...judged);
  expect(first).toMatchObject({ status: 3, stdout: expect.stringContaining("deny") });
  const names = kept();
  expect(names.map((name) => name.replace(/-.*/, "")).toSorted()).toEqual(["program", "rest"]);
  const times = names.map((name) => statSync(place.path(`kept/${name}`)).mtimeMs);
  expect(gennai(...judged)).toEqual(first);
  expect(names.map((name) => statSync(place.path(`kept/${name}`)).mtimeMs)).toEqual(times);
});

/** Runs at the end of a process, before anything is kept: much work, with collections in which V8 drops what was not called lately. */
const work = `
process.once("exit", () => {
  const lists = [];
  const before = busy();
  for (let count = 0; busy() - before < 2_100_000; count += 1) lists[count % 40] = new Array(200_000).fill(count);
  function busy() {
    const { user, system } = process.cpuUsage();
    return user + system;
  }
});`;

it("keeps once more, and no less, of the first process that has done much, and then nothing", async () => {
  await place.write("work.cjs", work);
  gennai(...judged);
  const [early, other] = kept();
  expect([early, other]).toEqual([
    expect.stringMatching(/^program-.*\.early$/),
    expect.stringMatching(/^rest-.*\.early$/),
  ]);
  const size = (name: string) => statSync(place.path(`kept/${name}`)).size;
  const before = size(`${early}`);
  const busy = { NODE_OPTIONS: `--require "${place.path("work.cjs")}"` };
  gennaiIn(busy, ...judged);
  const names = kept();
  expect(names).toEqual([early, other].map((name) => name?.replace(/\.early$/, "")));
  // The same functions can take some bytes less.
  expect(size(`${names[0]}`)).toBeGreaterThan(before * 0.95);
  const times = names.map((name) => statSync(place.path(`kept/${name}`)).mtimeMs);
  expect(gennaiIn(busy, ...judged)).toMatchObject({ status: 3, stderr: "" });
  expect(names.map((name) => statSync(place.path(`kept/${name}`)).mtimeMs)).toEqual(times);
  expect(kept()).toEqual(names);
  // Damaged, it is no obstacle to what is kept next.
  for (const name of names) writeFileSync(place.path(`kept/${name}`), "not compiled code");
  gennai(...judged);
  expect(kept()).toEqual([early, other]);
  const again = statSync(place.path(`kept/${early}`)).mtimeMs;
  gennai(...judged);
  expect(statSync(place.path(`kept/${early}`)).mtimeMs).toBe(again);
});

it.each([["--version"], ["policy", "--help"], ["no-such-command"], ["policy", "check"]])(
  "keeps nothing of %s, which ran no command",
  (...args) => {
    gennai(...args);
    expect(kept()).toEqual([]);
  },
);

const half = (bytes: Buffer) => Math.floor(bytes.length / 2);
it.each<[string, (bytes: Buffer) => Uint8Array]>([
  ["something else", () => Buffer.from("not compiled code")],
  ["nothing", () => Buffer.alloc(0)],
  ["its beginning, as a power cut leaves it", (bytes) => bytes.subarray(0, half(bytes))],
  ["its beginning and zeros", (bytes) => Buffer.concat([bytes.subarray(0, half(bytes)), Buffer.alloc(half(bytes))])],
  ["one with other bits in it", (bytes) => bytes.map((byte, at) => (at > 1000 && at % 5000 < 20 ? byte ^ 0xff : byte))],
])("runs without compiled code that was damaged, %s, and makes it anew", (_what, damage) => {
  const first = gennai(...judged);
  const names = kept();
  expect(names).toHaveLength(2);
  for (const name of names) writeFileSync(place.path(`kept/${name}`), damage(readFileSync(place.path(`kept/${name}`))));
  expect(gennai(...judged)).toEqual(first);
  expect(kept()).toEqual(names);
  for (const name of names) expect(readFileSync(place.path(`kept/${name}`)).length).toBeGreaterThan(10_000);
});

it("runs where nothing can be kept", async () => {
  await place.write("kept", "a file where the directory would be");
  expect(gennai(...judged)).toMatchObject({ status: 3, stderr: "" });
});
