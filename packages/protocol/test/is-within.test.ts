import { posix, win32 } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isWithin } from "../src/is-within.ts";

test.for([
  ["/a", "/a", true],
  ["/a/b", "/a", true],
  ["/ab", "/a", false],
  ["/a", "/a/b", false],
  ["/a", "/", true],
  ["/a\\b", "/a", false],
  ["/A/b", "/a", false],
  ["src/a.ts", "src", true],
  ["A:/b", "a:", false],
  ["C:\\Work\\a", "c:\\work", true],
  ["C:\\a", "C:\\", true],
  ["C:\\ab", "C:\\a", false],
  ["D:\\a\\b", "C:\\a", false],
  ["\\\\host\\share\\a", "\\\\host\\share", true],
] as const)("%s within %s: %s", ([path, directory, is]) => {
  expect(isWithin(path, { directory })).toBe(is);
});

const names = fc.array(fc.constantFrom("a", "b", "A", "ab", "..a"), { maxLength: 4 });

test.each([
  ["/", posix],
  ["C:\\", win32],
] as const)("says below %s what the path between the two says", (root, { join, relative, isAbsolute }) => {
  fc.assert(
    fc.property(names, names, (one, other) => {
      const [path, directory] = [join(root, ...one), join(root, ...other)];
      const between = relative(directory, path);
      const is = between !== ".." && !/^\.\.[\\/]/.test(between) && !isAbsolute(between);
      expect(isWithin(path, { directory })).toBe(is);
    }),
  );
});
