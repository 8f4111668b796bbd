import { expect, test } from "vitest";
import { hunkText } from "#commands/changes/hunk-text";

const second = { start: 2, count: 1 };

test.each([
  { what: "lines", text: "a\nb\nc\n", range: second, given: "b\n" },
  { what: "no lines", text: "a\nb\n", range: { start: 1, count: 0 }, given: "" },
  { what: "the last line without an end, behind a byte-order mark", text: "\uFEFFa\nb", range: second, given: "b" },
  { what: "carriage returns that the editor keeps", text: "a\r\nb\r\n", range: second, given: "b\r\n" },
  { what: "a lone carriage return elsewhere is in its line", text: "a\rx\nb\n", range: second, given: "b\n" },
  { what: "other endings elsewhere", text: "a\nb\r\n", range: second, given: "b\r\n" },
])("$what: given as they are", ({ text, range, given }) => expect(hunkText(text, range)).toBe(given));

test.each([
  { what: "a lone carriage return", text: "a\nb\rc\n", range: second },
  { what: "two kinds of endings", text: "a\nb\r\nc\n", range: { start: 2, count: 2 } },
  { what: "a null", text: "a\nb\0\n", range: second },
])("$what is not opened to be edited", ({ text, range }) => expect(hunkText(text, range)).toBeUndefined());
