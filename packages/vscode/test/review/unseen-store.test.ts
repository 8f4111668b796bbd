import { readdirSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import type { Uri } from "vscode";
import { storageName } from "../../src/review/unseen-changes.ts";
import { unseenStore } from "../../src/review/unseen-store.ts";

test("what is kept for one folder of a workspace is not found in another", async () => {
  await using directory = await temporaryDirectory({});
  const storage = { fsPath: directory.path("storage") } as Uri;
  const of = (root: string) => unseenStore(storage, storageName(root));
  expect(await of("/projects/one").load()).toBeUndefined();
  await of("/projects/one").save("{}");
  const found = await Promise.all(["/projects/one", "/projects/two"].map((root) => of(root).load()));
  expect(found).toEqual(["{}", undefined]);
});

test("who reads while it is written finds the text before or after, whole, and no draft stays", async () => {
  await using directory = await temporaryDirectory({});
  const storage = { fsPath: directory.path("storage") } as Uri;
  const { load, save } = unseenStore(storage, "unseen.json");
  const texts = ["a", "b"].map((letter) => letter.repeat(2_000_000));
  await save(texts[0] ?? "");
  const written = (async () => {
    for (let time = 0; time < 20; time += 1) await save(texts[time % 2] ?? "");
    return "written";
  })();
  let reads = 0;
  while ((await Promise.race([written, load()])) !== "written") {
    expect(texts.includes((await load()) ?? "")).toBe(true);
    reads += 1;
  }
  expect(reads).toBeGreaterThan(0);
  expect(readdirSync(storage.fsPath)).toHaveLength(1);
});
