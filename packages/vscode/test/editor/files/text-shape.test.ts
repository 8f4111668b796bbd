import fc from "fast-check";
import { expect, test } from "vitest";
import { lineEndsOf, linesOfText, withLineEnds } from "../../../src/editor/files/text-shape.ts";

const text = fc.array(fc.constantFrom("a", "b", "\n", "\r\n", "\r"), { maxLength: 20 }).map((parts) => parts.join(""));

test.each([
  ["", "none"],
  ["a", "none"],
  ["a\r", "none"],
  ["a\n", "lf"],
  ["a\r\nb\r\n", "crlf"],
  ["a\r\nb\n", "mixed"],
  ["\n", "lf"],
])("%j has line ends %s", (value, ends) => {
  expect(lineEndsOf(value)).toBe(ends);
});

test("line ends of one kind go there and back", () => {
  fc.assert(
    fc.property(text, (value) => {
      const lf = withLineEnds(value, "lf");
      expect(lf).not.toContain("\r");
      expect(withLineEnds(withLineEnds(lf, "crlf"), "lf")).toBe(lf);
    }),
  );
});

test("single lines make the whole, none is counted twice", () => {
  fc.assert(
    fc.property(text, (value) => {
      const { totalLines } = linesOfText(value, { offset: 0, limit: 0 }, 1000);
      const lines = Array.from(
        { length: totalLines },
        (_, index) => linesOfText(value, { offset: index + 1, limit: 1 }, 1000).content,
      );
      expect(lines.join("")).toBe(value);
    }),
  );
});

test.each([
  [0, 0, "1\n2\n3", false],
  [2, 1, "2\n", false],
  [2, 0, "2\n3", false],
  [3, 9, "3", false],
  [4, 1, "", false],
])("offset %i, limit %i", (offset, limit, content, truncated) => {
  expect(linesOfText("1\n2\n3", { offset, limit }, 100)).toEqual({ content, truncated, totalLines: 3 });
});

test("too long a text is cut between lines where it can be", () => {
  expect(linesOfText("aa\nbb\ncc\n", { offset: 0, limit: 0 }, 7)).toMatchObject({
    content: "aa\nbb\n",
    truncated: true,
  });
  expect(linesOfText("aaaaaaaaaa", { offset: 0, limit: 0 }, 4)).toMatchObject({ content: "aaaa", truncated: true });
});
