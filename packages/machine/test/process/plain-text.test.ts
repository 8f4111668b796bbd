import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lastOfLines, PlainText, plainText } from "#process/plain-text";

describe("output without what it says to a terminal", () => {
  test.each<[string, string, string]>([
    ["nothing of the kind", "a\tb\nc – ü €\n", "a\tb\nc – ü €\n"],
    ["colours and cursor moves", "\u001b[1;31mred\u001b[0m\u001b[2J\u001b[10;3H!", "red!"],
    [
      "a title, the clipboard, a link",
      "\u001b]0;t\u0007a\u001b]52;c;eA==\u001b\\b\u001b]8;;https://x\u001b\\c\u001b]8;;\u001b\\",
      "abc",
    ],
    ["device control and application strings", "\u001bP1$r0m\u001b\\a\u001b_x\u001b\\b\u001b^y\u001b\\c", "abc"],
    ["eight-bit forms", "\u009b31ma\u009d0;t\u009cb", "ab"],
    ["character sets and other escapes", "\u001b(Ba\u001b=b\u001bcc", "abc"],
    ["the end of a paste", "a\u001b[201~b", "ab"],
    ["backspaces, bells, NUL, delete", "a\bb\u0007c\u0000d\u007f", "abcd"],
    ["line ends of others", "a\r\nb\rc", "a\nb\nc"],
    ["an unfinished sequence", "a\u001b[31", "a"],
    ["an escape in an escape", "\u001b\u001b[31ma\u001b]0;x\u001b[1mb", "ab"],
  ])("%s", (_name, text, wanted) => {
    expect(plainText(text)).toBe(wanted);
  });

  test.each([
    ["a progress bar", "get\n 10%\r 50%\r100%\ndone\n", "get\n100%\ndone\n"],
    ["one that has not ended", " 10%\r 50%\r", " 50%"],
    ["line ends of others", "a\r\nb\r\r\nc\r", "a\nb\nc"],
    ["only carriage returns", "\r\r\n\r", "\n"],
    ["none", "a\nb", "a\nb"],
  ])("of %s, the last state stays", (_name, text, wanted) => {
    expect(lastOfLines(text)).toBe(wanted);
  });

  test("it is the same in pieces, and never has a control in it", () => {
    const part = fc.constantFrom("\u001b", "[", "]", "31m", "\u0007", "\\", "\u009b", "a", "\n", "\r", "P", "x");
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        const stream = new PlainText();
        const streamed = parts.map((piece) => stream.push(piece)).join("");
        expect(streamed).toBe(new PlainText().push(parts.join("")));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about.
        expect(streamed).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
      }),
    );
  });
});
