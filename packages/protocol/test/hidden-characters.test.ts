import fc from "fast-check";
import { expect, test } from "vitest";
import { hidesSomething, spelledOut } from "#hidden-characters";

test.each<[string, string, string]>([
  ["plain text", "Ünïcode 日本\n\ttab", "Ünïcode 日本\n\ttab"],
  ["an escape", "\x1b[31mred", "\\u{1b}[31mred"],
  ["a one-byte escape", "a\x9b2Jb", "a\\u{9b}2Jb"],
  ["overwriting", "safe\rrm\b", "safe\\u{d}rm\\u{8}"],
  ["null and delete", "\0\x7f", "\\u{0}\\u{7f}"],
  ["direction", "a\u202eb\u2066c\u061c", "a\\u{202e}b\\u{2066}c\\u{61c}"],
  ["zero width", "a\u200bb\u200d\u2060\ufeff", "a\\u{200b}b\\u{200d}\\u{2060}\\u{feff}"],
  ["a soft hyphen", "a\u00adb", "a\\u{ad}b"],
  ["fillers", "\u115f\u3164\uffa0\u034f", "\\u{115f}\\u{3164}\\u{ffa0}\\u{34f}"],
  ["tags", "\u{e0041}\u{e0001}", "\\u{e0041}\\u{e0001}"],
  ["line separators", "a\u2028b\u2029", "a\\u{2028}b\\u{2029}"],
  ["variation selectors", "a\ufe0fb\ufe00\u{e0100}", "a\\u{fe0f}b\\u{fe00}\\u{e0100}"],
  ["pictures and keys", "❤\ufe0f 1\ufe0f\u20e3", "❤\ufe0f 1\ufe0f\u20e3"],
  ["a second selector behind a picture", "❤\ufe0f\ufe0f", "❤\ufe0f\\u{fe0f}"],
  ["half a pair", "a\ud800b", "a\\u{d800}b"],
  ["a whole pair", "😀", "😀"],
])("%s", (_, text, spelled) => {
  expect(spelledOut(text)).toBe(spelled);
  // Twice: nothing remembers where the last search ended.
  for (let time = 0; time < 2; time += 1) expect(hidesSomething(text)).toBe(text !== spelled);
});

test("no hidden character is left", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const spelled = spelledOut(text);
      expect(spelled.replaceAll(/[\t\n]/g, "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(hidesSomething(spelled)).toBe(false);
    }),
  );
});
