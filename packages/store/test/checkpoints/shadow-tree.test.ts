import { chmodSync, lstatSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { ShadowTree } from "#checkpoints/shadow-tree";

async function world() {
  const base = await temporaryDirectory();
  const root = base.path("workspace");
  mkdirSync(root);
  const tree = new ShadowTree({ directory: base.path("tree"), root, locks: new ProcessLocks(base.path("locks")) });
  return { root, tree, [Symbol.asyncDispose]: () => base[Symbol.asyncDispose]() };
}

test("git, which compares whole seconds, does not miss what was rewritten unseen in the second of its index", async () => {
  await using place = await world();
  const { root, tree } = place;
  const file = join(root, "a");
  writeFileSync(file, "one\n");
  await delay(1_050 + 1_000 - (Date.now() % 1_000));
  // Its index has the time of this change, and is written in the same second.
  chmodSync(file, 0o755);
  const before = await tree.snapshot();
  const { atime, mtime } = lstatSync(file);
  writeFileSync(file, readFileSync(file, "latin1").replaceAll(/[a-z0-9]/g, "z"));
  utimesSync(file, atime, mtime);
  expect((await tree.snapshot()).tree).not.toBe(before.tree);
});

test("one thing at a time is done in a repository, in order, and a failure keeps none from its turn", async () => {
  await using place = await world();
  const { root, tree } = place;
  expect(await raceJobs((job) => tree.alone(job))).toEqual(oneAfterTheOther);
  // Who comes when the first is done does not pass the second by.
  const order: number[] = [];
  const first = tree.alone(async () => order.push(1));
  const second = tree.alone(async () => order.push(2));
  const third = first.then(() => tree.alone(async () => order.push(3)));
  await Promise.all([second, third]);
  expect(order).toEqual([1, 2, 3]);
  writeFileSync(join(root, "a"), "1");
  const given = new AbortController();
  given.abort();
  const looks = await Promise.allSettled([tree.snapshot(given.signal), tree.snapshot()]);
  expect(looks.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});
