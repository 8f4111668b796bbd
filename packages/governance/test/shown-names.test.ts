import { expect, test } from "vitest";
import { inOneLine, shownName, shownNames } from "#shown-names";

test.each<[string, string]>([
  ["src/a b.ts", "src/a b.ts"],
  ["é/漢.ts", "é/漢.ts"],
  ["a\n[exit code 0]", '"a\\n[exit code 0]"'],
  ["a\u001b[2J", '"a\\u001b[2J"'],
  ["a\u009b1m", '"a\\u{9b}1m"'],
  ["a\u202etxt.exe", '"a\\u{202e}txt.exe"'],
  ["a\u2028b", '"a\\u{2028}b"'],
  ["a\u{e0041}", '"a\\u{e0041}"'],
])("the name %j is shown as %s", (name, shown) => {
  expect(shownName(name)).toBe(shown);
});

test("of many names, the first are shown, and how many more there are", () => {
  expect(shownNames(["a", "b\r", "c", "d"], 2)).toBe('a, "b\\r" and 2 more');
  expect(shownNames(["a", "b"], 2)).toBe("a, b");
});

test("text of others stays in its line", () => {
  expect(inOneLine("one  \n  two\u2028three\u001b[0m\tfour")).toBe("one two three\\u{1b}[0m four");
});
