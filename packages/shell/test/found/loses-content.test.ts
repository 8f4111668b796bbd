import type { Entry } from "@gennai/machine/entries/look-at-entry";
import type { StageEffect } from "@gennai/stage/observe/effect";
import { expect, test } from "vitest";
import { losingContent } from "#found/loses-content";

const identity = { inode: 1n, size: 1n, mtimeNs: 1n, ctimeNs: 1n, mode: 0o644 };
const file = (size: number, sha256: string | undefined = "a"): Entry => ({ type: "file", mode: 0o644, size, sha256 });
const limit = 100;
const large = file(limit + 1);
const pipe: Entry = { type: "other", mode: 0o644 };

function effectOf(before: Entry | undefined, after: Entry | undefined, more: Partial<StageEffect> = {}): StageEffect {
  return {
    root: 0,
    path: "x",
    change: before === undefined ? "created" : after === undefined ? "deleted" : "changed",
    flags: [],
    ...(before === undefined ? {} : { before: { ...before, identity } }),
    ...(after === undefined ? {} : { after }),
    ...more,
  };
}

test.each<[string, Entry | undefined, Entry | undefined, Partial<StageEffect>, boolean]>([
  ["a new large file", undefined, large, {}, false],
  ["as large as is kept", file(limit), undefined, {}, false],
  ["larger, deleted", large, undefined, {}, true],
  ["larger, replaced", large, file(1, "b"), {}, true],
  ["larger, replaced by a link", large, { type: "link", target: "x" }, {}, true],
  ["larger, other permission bits", large, { ...large, mode: 0o600 } as Entry, {}, false],
  ["larger, moved", large, undefined, { movedTo: "there" }, false],
  ["not readable, deleted", { ...file(1), sha256: undefined } as Entry, undefined, {}, true],
  ["a pipe, deleted", pipe, undefined, {}, true],
  ["a pipe, other permission bits", pipe, { ...pipe, mode: 0o600 }, {}, false],
  ["a directory, deleted", { type: "directory", mode: 0o755 }, undefined, {}, false],
  ["a link, deleted", { type: "link", target: "x" }, undefined, {}, false],
])("%s", (_name, before, after, more, lost) => {
  expect(losingContent([effectOf(before, after, more)], limit).size).toBe(lost ? 1 : 0);
});

test("of many files that are more than is kept, none is, and of as many as are kept, each", () => {
  const gone = Array.from({ length: 10 }, () => effectOf(file(10), undefined));
  expect(losingContent(gone, limit)).toEqual(new Set());
  const more = [...gone, effectOf(file(1), file(2, "b")), effectOf(undefined, file(limit))];
  expect(losingContent(more, limit)).toEqual(new Set(more.slice(0, -1)));
});
