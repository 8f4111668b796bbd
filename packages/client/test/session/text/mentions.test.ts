import { describe, expect, test } from "vitest";
import { canMention, completeMention, mentionAt, writtenMention } from "#session/text/mentions";

/** `|` is the caret. */
function at(text: string) {
  const caret = text.indexOf("|");
  return { text: text.replace("|", ""), caret };
}

describe("the mention that is being typed", () => {
  test.each<[string, string | undefined]>([
    ["@|", ""],
    ["see @src/a|", "src/a"],
    ["see @src/a| and more", "src/a"],
    ['see @"with sp|', "with sp"],
    ["(@a|", "a"],
    ["see #src/a|", "src/a"],
    ["C#a|", undefined],
    ["me@example|", undefined],
    ["see @a b|", undefined],
    ["|@a", undefined],
    ["@types/node: x|", undefined],
  ])("%s", (marked, wanted) => {
    const { text, caret } = at(marked);
    expect(mentionAt(text, caret)?.prefix).toBe(wanted);
  });

  test.each([
    ["with space.md", true],
    ['a"b', true],
    ["a'b", true],
    ["a\"b'c", false],
    ["a\nb", false],
  ])("canMention(%j): %s", (path, wanted) => {
    expect(canMention(path)).toBe(wanted);
  });

  test.each<[string, string, string]>([
    ["see @sr|", "src/", "see @src/|"],
    ["see #sr|", "src/", "see @src/|"],
    ["see @src/a|", "src/a.ts", "see @src/a.ts |"],
    ["see @src/a| now", "src/a.ts", "see @src/a.ts| now"],
    ["@w|", "with space.md", '@"with space.md" |'],
    ['@"w|"', "with space.md", '@"with space.md" |'],
    ["@w|", "with space/", '@"with space/|'],
    ["@a|", 'a" then delete b', "@'a\" then delete b' |"],
    ["@'a\" t|", 'a" then/', "@'a\" then/|"],
  ])("%s becomes %s", (marked, path, wanted) => {
    const { text, caret } = at(marked);
    const mention = mentionAt(text, caret);
    expect(mention).toBeDefined();
    if (mention === undefined) return;
    const done = completeMention(text, caret, mention, path);
    expect(`${done.text.slice(0, done.caret)}|${done.text.slice(done.caret)}`).toBe(wanted);
  });
});

test.each([
  ["src/a.ts", undefined, "@src/a.ts"],
  ["src/a.ts", { startLine: 2, endLine: 9 }, "@src/a.ts:2-9"],
  ["with space.md", { startLine: 2, endLine: 2 }, '@"with space.md":2'],
  ['say "x".md', undefined, "@'say \"x\".md'"],
  ["why?", undefined, '@"why?"'],
  ["log:12", undefined, '@"log:12"'],
  [".", undefined, "@."],
])("the mention of %s, %j is %s", (path, lines, wanted) => {
  expect(writtenMention(path, lines)).toBe(wanted);
});
