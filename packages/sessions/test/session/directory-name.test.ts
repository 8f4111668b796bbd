import fc from "fast-check";
import { expect, test } from "vitest";
import { isName } from "#session/identity";
import { directoryName } from "#session/user-workspaces";

test.each(["acme", "a", "ada.lovelace", "team-1", "x_y", "0"])("a harmless name stays as it is: %s", (name) => {
  expect(directoryName(name)).toBe(name);
});

test.each([
  ["the directory above", ".."],
  ["this directory", "."],
  ["a path", "../other"],
  ["a path down", "acme/ada"],
  ["a path of Windows", "acme\\ada"],
  ["an absolute path", "/etc"],
  ["a hidden one", ".git"],
  ["capitals", "Acme"],
  ["a name that looks like a digest", `~${"0".repeat(40)}`],
  ["a device of Windows", "con"],
  ["the same with an ending", "nul.txt"],
  ["a dot at the end", "acme."],
  ["spaces", "acme inc"],
  ["other letters", "größe"],
  ["letters that look like others", "аcme"],
  ["an address", "ada@example.com"],
  ["a very long one", "a".repeat(200)],
  ["a NUL", "a\0b"],
  ["nothing", ""],
])("%s becomes its digest", (_what, name) => {
  expect(directoryName(name)).toMatch(/^~[0-9a-f]{40}$/);
});

test("no two names share a directory, on a system that does not tell case or composition apart either", () => {
  const folded = (name: string): string => directoryName(name).normalize("NFC").toLowerCase();
  const names = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^[aA.\-_~/]{0,4}$/),
    fc.constantFrom("é", "e\u0301", "E\u0301"),
  );
  fc.assert(
    fc.property(names, names, (one, other) => {
      expect(folded(one) === folded(other)).toBe(one === other);
      expect(directoryName(one)).toMatch(/^[a-z0-9~][a-z0-9._-]*$/);
    }),
    { numRuns: 2_000 },
  );
});

test.each<[string, unknown, boolean]>([
  ["a name", "ada", true],
  ["other letters", "Ünal Öz", true],
  ["nothing", "", false],
  ["a number", 7, false],
  ["a list", ["ada"], false],
  ["an object", { toString: () => "ada" }, false],
  ["blanks around", " ada", false],
  ["a line break", "ada\neve", false],
  ["a character nobody sees", "a\u200bda", false],
  ["one that turns the direction", "ada\u202e", false],
  ["half a character", "\ud800", false],
  ["a NUL", "ada\0", false],
  ["too many characters", "a".repeat(257), false],
])("as a name of somebody, %s", (_what, value, good) => {
  expect(isName(value)).toBe(good);
});
