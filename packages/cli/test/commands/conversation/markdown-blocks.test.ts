import fc from "fast-check";
import { expect, test } from "vitest";
import { nextBlock } from "#commands/conversation/shown/markdown-blocks";

/** The blocks of a text that came in these pieces, each as soon as it can change no more. */
function blocksOf(pieces: readonly string[]): readonly string[] {
  const found: string[] = [];
  let [text, end, fence] = ["", 0, ""];
  const take = (isWhole: boolean): void => {
    for (let block = nextBlock(text, end, { fence, isWhole }); block !== undefined; ) {
      found.push(block.source);
      ({ end, fence } = block);
      block = nextBlock(text, end, { fence, isWhole });
    }
  };
  for (const piece of pieces) {
    text += piece;
    take(false);
  }
  take(true);
  expect(end).toBe(text.length);
  return found;
}

const fence = "```";

test.each([
  { name: "paragraphs", text: "one\ntwo\n\nthree\n", blocks: ["one\ntwo\n\n", "three\n"] },
  { name: "a list whose items go on", text: "- a\n\n  more\n\nend", blocks: ["- a\n\n  more\n\n", "end"] },
  {
    name: "empty lines in a fence",
    text: `${fence}js\na\n\nb\n${fence}\nend`,
    blocks: [`${fence}js\na\n\nb\n${fence}\nend`],
  },
  { name: "a fence that is never closed", text: `${fence}\na\n\nb`, blocks: [`${fence}\na\n\nb\n${fence}`] },
  {
    name: "a longer fence around one",
    text: `${fence}${fence}\n${fence}\n\n`,
    blocks: [`${fence}${fence}\n${fence}\n\n${fence}${fence}`],
  },
])("$name", ({ text, blocks }) => {
  expect(blocksOf([text])).toEqual(blocks);
});

test("a long fence is cut at a line, and each part is a fence of its own", () => {
  const line = `${"x".repeat(99)}\n`;
  const blocks = blocksOf([`${fence}js\n`, ...Array.from({ length: 100 }, () => line), `${fence}\n`]);
  expect(blocks.length).toBeGreaterThan(1);
  for (const block of blocks) expect(block).toMatch(/^```js\n[x\n]*```\n?$/);
  expect(blocks.join("").split(line).length - 1).toBe(100);
});

test("no word is lost or told twice, however a text comes", () => {
  const piece = fc.oneof(
    fc.constantFrom("\n", "\n\n", " ", "- ", "1. ", fence, `${fence}\n`, "~~~\n", "    "),
    fc.stringMatching(/^[a-z]{1,9}$/),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const words = (text: string) => text.match(/[a-z]+/g)?.join("") ?? "";
      const whole = pieces.join("");
      const shown = blocksOf(pieces).join("");
      // What opens a fence stands again before a part of it.
      fc.pre(!/(?:```|~~~)[a-z ]/.test(whole));
      expect(words(shown)).toBe(words(whole));
    }),
  );
});
