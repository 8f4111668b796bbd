import fc from "fast-check";
import { expect, test } from "vitest";
import { TerminalOutput } from "../../src/terminal/terminal-output.ts";

const cases: readonly (readonly [name: string, raw: string, plain: string])[] = [
  ["shell integration", "\u001b]633;C\u0007hello\r\n\u001b]633;D;0\u001b\\", "hello\n"],
  ["colours", "\u001b[1;31mred\u001b[0m \u001b[38;2;1;2;3mrgb", "red rgb"],
  ["a title", "\u001b]0;title\u0007text", "text"],
  ["a link", "\u001b]8;;https://example.org\u001b\\text\u001b]8;;\u001b\\", "text"],
  ["cursor movements", "a\u001b[2Kb\u001b[?25lc", "abc"],
  ["a charset", "\u001b(Btext\u001b=", "text"],
  ["line ends", "a\r\nb\r\r\nc\nd", "a\nb\nc\nd"],
  ["a progress bar", "10%\r20%\r\n", "10%\r20%\n"],
  ["bells and backspaces", "a\u0007b\u0008c", "abc"],
  ["one-byte controls", "\u009b31mred\u009d0;t\u009c", "red"],
  ["an unfinished sequence at the end", "text\u001b]633;E;ls", "text"],
  ["text beyond ASCII", "grün 色 😀\r\n", "grün 色 😀\n"],
  ["brackets that are text", "a[0m]633;C", "a[0m]633;C"],
];

const plainOf = (pieces: readonly string[]) => {
  const output = new TerminalOutput();
  return pieces.map((piece) => output.push(piece)).join("");
};

test.each(cases)("%s", (_, raw, plain) => {
  expect(plainOf([raw])).toBe(plain);
});

test("wherever a piece is cut, the text is the same", () => {
  const raw = fc
    .array(
      fc.oneof(
        fc.constantFrom(...cases.map((row) => row[1])),
        fc.constantFrom("\u001b", "\r", "\n", "x", "[", "m", "]", "\u0007", "\\"),
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(raw, fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
      const at = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((one, other) => one - other);
      const pieces = [0, ...at].map((start, index) => text.slice(start, at[index] ?? text.length));
      expect(plainOf(pieces)).toBe(plainOf([text]));
    }),
    { numRuns: 1000 },
  );
});

test("nothing that moves a cursor is left", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (pieces) => {
      expect(plainOf(pieces)).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/);
    }),
  );
});

test("output without an end to its sequence is not held for ever", () => {
  const output = new TerminalOutput();
  let text = output.push("\u001b]0;");
  for (let index = 0; index < 100; index++) text += output.push("x".repeat(4096));
  expect(text.length).toBeGreaterThan(0);
});
