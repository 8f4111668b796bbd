import { expect, test } from "vitest";
import { isSameDirectory } from "#control-watch/state/directory-identity";

const seen = { inode: 7, device: 1, born: "5", boot: "a" };

test.each<[string, Partial<typeof seen>, boolean]>([
  ["the same one", {}, true],
  ["another inode", { inode: 8 }, false],
  ["another device", { device: 2 }, false],
  ["another device after a restart of the machine, made when it was", { device: 2, boot: "b" }, true],
  ["one made at another time, after a restart", { born: "6", boot: "b" }, false],
  ["one of which the file system does not say when it was made", { born: "0" }, true],
])("%s", (_what, other, isSame) => {
  expect(isSameDirectory(seen, { ...seen, ...other })).toBe(isSame);
});

test("after a restart, where the file system does not say when it was made, none is the same", () => {
  expect(isSameDirectory({ ...seen, born: "0" }, { ...seen, born: "0", boot: "b" })).toBe(false);
});
