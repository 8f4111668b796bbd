import fc from "fast-check";
import { expect, test } from "vitest";
import { textPieces } from "#look/visible-text.tsx";

const joined = (text: string) =>
  textPieces(text)
    .map((piece) => (piece.type === "text" ? piece.text : `[${piece.label}]`))
    .join("");

test.each([
  { name: "plain text", text: "const a = 1;\n\tb", wanted: "const a = 1;\n\tb" },
  { name: "a right-to-left override", text: "a\u202Eb", wanted: "a[U+202E]b" },
  { name: "zero width", text: "a\u200Bb\u200D\u2060", wanted: "a[U+200B]b[U+200D][U+2060]" },
  { name: "an escape", text: "\u001b[31m", wanted: "[U+001B][31m" },
  { name: "tags", text: "a\u{E0041}", wanted: "a[U+E0041]" },
  { name: "a carriage return", text: "a\rb", wanted: "a[U+000D]b" },
  { name: "half a pair", text: "a\ud800b", wanted: "a[U+D800]b" },
  { name: "whole pairs", text: "😀", wanted: "😀" },
])("$name", ({ text, wanted }) => expect(joined(text)).toBe(wanted));

test("nothing invisible is left, and nothing is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const pieces = textPieces(text);
      const shown = pieces.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("");
      expect(shown.replaceAll(/[\t\n]/g, "")).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
      expect([...shown].length + pieces.filter(({ type }) => type === "hidden").length).toBe([...text].length);
    }),
  );
});
