import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeText, encodeText, endOfLine } from "#workspace/files/text-file";

test.each([
  ["empty", "", { text: "", bom: false, eol: "none" }],
  ["one line", "a", { text: "a", bom: false, eol: "none" }],
  ["LF", "a\nb\n", { text: "a\nb\n", bom: false, eol: "lf" }],
  ["CRLF", "a\r\nb\r\n", { text: "a\r\nb\r\n", bom: false, eol: "crlf" }],
  ["mixed", "a\r\nb\n", { text: "a\r\nb\n", bom: false, eol: "mixed" }],
  ["lone CR", "a\rb", { text: "a\rb", bom: false, eol: "none" }],
  ["BOM", "\ufeffa\r\n", { text: "a\r\n", bom: true, eol: "crlf" }],
  ["two BOMs", "\ufeff\ufeffa", { text: "\ufeffa", bom: true, eol: "none" }],
  ["LF first", "\na\r\n", { text: "\na\r\n", bom: false, eol: "mixed" }],
  ["NUL after 8 KiB", `${"a".repeat(8192)}\0`, { text: `${"a".repeat(8192)}\0`, bom: false, eol: "none" }],
])("decodes %s", (_, content, decoded) => {
  expect(decodeText(Buffer.from(content))).toEqual(decoded);
});

test.each([
  ["NUL", [0x61, 0]],
  ["Latin-1", [0x63, 0x61, 0x66, 0xe9]],
  ["a cut character", [0xe2, 0x82]],
  ["overlong", [0xc0, 0xaf]],
  ["surrogate", [0xed, 0xa0, 0x80]],
  ["UTF-16", [0xff, 0xfe, 0x61, 0]],
])("takes %s for binary", (_, bytes) => {
  expect(decodeText(Uint8Array.from(bytes))).toBeUndefined();
});

test("what was decoded encodes to the same bytes", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "\n", "\r", "\r\n", "\ufeff", "é", "😀") });
  const bytes = fc.oneof(
    text.map((value) => Uint8Array.from(Buffer.from(value))),
    fc.uint8Array({ maxLength: 40 }),
  );
  fc.assert(
    fc.property(bytes, (content) => {
      const decoded = decodeText(content);
      if (decoded !== undefined) expect(Uint8Array.from(encodeText(decoded.text, decoded))).toEqual(content);
    }),
  );
});

test("the end of line of a text", () => {
  expect(["", "a\n", "a\r\n", "\n\r\n"].map(endOfLine)).toEqual(["none", "lf", "crlf", "mixed"]);
});
