import { mkdirSync, writeFileSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { CoveredRoots } from "#cover/covered-roots";

const directories = 3_000;

/** A tree that takes longer to look through than anybody may be kept waiting. */
async function largeTree() {
  const tree = await temporaryDirectory({ "src/.env": "PASSWORD=x\n" });
  for (let index = 0; index < directories; index += 1) mkdirSync(tree.path(`d${index}/e`), { recursive: true });
  return tree;
}

test("a look for what to hide lets other work have its turn, and the next one waits for it and sees what is new", async () => {
  await using tree = await largeTree();
  const roots = new CoveredRoots(tree.root, undefined, {});
  let turns = 0;
  let looking = true;
  const count = (): void => {
    turns += 1;
    if (looking) setImmediate(count);
  };
  setImmediate(count);
  const first = roots.look();
  const second = first.then(() => writeFileSync(tree.path("d7/.env"), "PASSWORD=y\n")).then(() => roots.look());
  expect((await first)[0]?.covered.hidden).toEqual(["src/.env"]);
  expect(turns).toBeGreaterThan(2);
  expect(new Set((await second)[0]?.covered.hidden)).toEqual(new Set(["src/.env", "d7/.env"]));
  looking = false;
});

test("a look that is not wanted any more ends, and the next one is whole", async () => {
  await using tree = await largeTree();
  const roots = new CoveredRoots(tree.root, undefined, {});
  const ending = new AbortController();
  const first = roots.look(undefined, ending.signal);
  ending.abort();
  const second = roots.look();
  await expect(first).rejects.toThrow("aborted");
  expect((await second)[0]?.covered.hidden).toEqual(["src/.env"]);
});
