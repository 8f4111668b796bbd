import { expect, test } from "vitest";
import { jsonLine, terminalSafe } from "#terminal/terminal-safe";

const rows = [
  ["colours", "\x1b[31mred\x1b[0m", "[31mred[0m"],
  ["a title", "\x1b]0;title\x07x", "]0;titlex"],
  ["one-byte escapes", "a\x9b2Jb", "a2Jb"],
  ["overwriting", "safe\rrm -rf\b", "saferm -rf"],
  ["direction", "a\u202eb", "ab"],
  ["plain", "Ünïcode 日本\n\ttab", "Ünïcode 日本\n\ttab"],
] as const;

test.each(rows)("%s", (_, text, stripped) => {
  expect(terminalSafe(text)).toBe(stripped);
});

test("JSON for a program is harmless on a terminal, and means the same", () => {
  const value = { text: "a\u009b31m \u202e \u007f \u{e0041} \u001b[2J \n é 漢" };
  const line = jsonLine(value);
  expect(JSON.parse(line)).toEqual(value);
  expect(line).toBe(terminalSafe(line));
  expect(line).toContain("é 漢");
});
