import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { copyTree } from "#copy-tree";
import { changesBetween, readTreeState } from "#tree-state";

const { signal } = new AbortController();

test("a copy is the same to git, and what was done to it is told apart by path", async () => {
  await using repository = await temporaryRepository({ "a.txt": "a\n", "lib/b.sh": "b\n", ".gitignore": "out\n" });
  await repository.write("out/x", "ignored\n");
  await repository.write("new.txt", "not committed\n");
  symlinkSync("a.txt", repository.path("link"));
  chmodSync(repository.path("lib/b.sh"), 0o755);
  await using place = await temporaryDirectory();
  const bytes = await copyTree(repository.root, place.root, { skip: (path) => path === "out", signal });
  expect(bytes).toBeGreaterThan(20);
  const before = await readTreeState(repository.root, signal);
  expect([...before].map(([path, { kind }]) => `${path} ${kind}`).toSorted()).toEqual([
    ".gitignore file",
    "a.txt file",
    "lib/b.sh executable",
    "link link",
    "new.txt file",
  ]);
  expect(changesBetween(before, await readTreeState(place.root, signal))).toEqual([]);

  await place.write("a.txt", "A\n");
  await place.write("made/c.txt", "c\n");
  await place.write("out/y", "ignored\n");
  rmSync(place.path("link"));
  chmodSync(place.path("lib/b.sh"), 0o644);
  const changes = changesBetween(before, await readTreeState(place.root, signal));
  const kinds = changes.map(({ path, before: was, after }) => [path, was?.kind, after?.kind]);
  expect(kinds).toEqual([
    ["a.txt", "file", "file"],
    ["lib/b.sh", "executable", "file"],
    ["link", "link", undefined],
    ["made/c.txt", undefined, "file"],
  ]);
});

test("a link in the place of a directory shows nothing of what it leads to", async () => {
  await using outside = await temporaryDirectory({ "b.txt": "hunter2\n" });
  await using repository = await temporaryRepository({ "lib/b.txt": "b\n" });
  rmSync(repository.path("lib"), { recursive: true });
  symlinkSync(outside.root, repository.path("lib"));
  const state = await readTreeState(repository.root, signal);
  expect([...state].map(([path, { kind }]) => [path, kind])).toEqual([["lib", "link"]]);
});

test("a copy that is no longer wanted ends", async () => {
  await using from = await temporaryDirectory({ "a.txt": "a\n" });
  await using to = await temporaryDirectory();
  mkdirSync(from.path("sub"));
  await expect(copyTree(from.root, to.root, { skip: () => false, signal: AbortSignal.abort() })).rejects.toThrow(
    "abort",
  );
});
