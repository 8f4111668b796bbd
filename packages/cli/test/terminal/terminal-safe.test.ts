import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLine, spelledOut, terminalSafe } from "#terminal/terminal-safe";

const rows = [
  ["colours", "\x1b[31mred\x1b[0m", "[31mred[0m", "\\x1b[31mred\\x1b[0m"],
  ["a title", "\x1b]0;title\x07x", "]0;titlex", "\\x1b]0;title\\x07x"],
  ["one-byte escapes", "a\x9b2Jb", "a2Jb", "a\\x9b2Jb"],
  ["overwriting", "safe\rrm -rf\b", "saferm -rf", "safe\\x0drm -rf\\x08"],
  ["direction", "a\u202eb", "ab", "a\\u{202e}b"],
  ["plain", "Ünïcode 日本\n\ttab", "Ünïcode 日本\n\ttab", "Ünïcode 日本\n\ttab"],
] as const;

test.each(rows)("%s", (_, text, stripped, spelled) => {
  expect(terminalSafe(text)).toBe(stripped);
  expect(spelledOut(text)).toBe(spelled);
});

test("no control character is left", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(terminalSafe(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      expect(spelledOut(text)).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }),
  );
});

test("JSON for a program is harmless on a terminal, and means the same", () => {
  const value = { text: "a\u009b31m \u202e \u007f \u{e0041} \u001b[2J \n é 漢" };
  const line = jsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expect(line).toBe(terminalSafe(line));
  expect(line).toContain("é 漢");
});
