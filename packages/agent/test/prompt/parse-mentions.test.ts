import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMentions } from "#prompt/parse-mentions";

/** `type path first-last` of each mention. */
const read = (prompt: string): readonly string[] =>
  parseMentions(prompt).map((mention) => {
    if (mention.type !== "path") return mention.type;
    const { lines, path, quoted } = mention;
    return [quoted ? "quoted" : "path", path, ...(lines === undefined ? [] : [`${lines.first}-${lines.last}`])].join(
      " ",
    );
  });

describe("mentions of a prompt", () => {
  test.each<[string, readonly string[]]>([
    ["look at @src/a.ts", ["path src/a.ts"]],
    ["@src/a.ts, @src/a.ts and @b.ts.", ["path src/a.ts", "path b.ts"]],
    ["(@src/a.ts:10-20)", ["path src/a.ts 10-20"]],
    ["@src/a.ts:7 @src/b.ts#L3-L9", ["path src/a.ts 7-7", "path src/b.ts 3-9"]],
    ["@src/a.ts:9-2", ["path src/a.ts"]],
    ["@\"with space/a b.md\" @'c d.md'", ["quoted with space/a b.md", "quoted c d.md"]],
    ['@"a b.md":3-4', ["quoted a b.md 3-4"]],
    ["@problems and @diff", ["problems", "diff"]],
    ["@. @.. @./src/", ["path .", "path ..", "path ./src/"]],
    ["me@example.org a@b", []],
    ["@ @! @...", []],
    ["```\n@src/a.ts\n```\n@b.ts", ["path b.ts"]],
    ["größer: @src/größe.ts", ["path src/größe.ts"]],
  ])("%j", (prompt, wanted) => {
    expect(read(prompt)).toEqual(wanted);
  });

  test("any text is read, quickly, and into few mentions", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("@", '"', "'", " ", "\n", "```", "a", "/", ":", "1", "-", "#L"), { maxLength: 400 }),
        (parts) => {
          expect(parseMentions(parts.join("")).length).toBeLessThanOrEqual(50);
        },
      ),
    );
  });
});
