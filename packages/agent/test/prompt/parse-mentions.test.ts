import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseMentions } from "#prompt/parse-mentions";

/** `type path first-last` of each mention. */
const read = (prompt: string): readonly string[] =>
  parseMentions(prompt).map((mention) => {
    if (mention.type === "diff" && mention.path !== undefined) return `diff of ${mention.path}`;
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
    ["@problems, @staged and @diff", ["problems", "staged", "diff"]],
    ['@"staged" @./staged', ["quoted staged", "path ./staged"]],
    ["@. @.. @./src/", ["path .", "path ..", "path ./src/"]],
    ["me@example.org a@b", []],
    ["@ @! @...", []],
    ["```\n@src/a.ts\n```\n@b.ts", ["path b.ts"]],
    ['@diff:src/a.ts and @"diff:with space.md"', ["diff of src/a.ts", "diff of with space.md"]],
    ["````\n```\n@a.ts\n````\n@b.ts", ["path b.ts"]],
    ["~~~~ title\n~~~\n@a.ts\n~~~\n@c.ts\n~~~~\n@b.ts", ["path b.ts"]],
    ["```\n@a.ts\nnothing ends it\n~~~\n@b.ts\n~~~\n@c.ts", ["path a.ts", "path c.ts"]],
    ["```\r\n@a.ts\r\n   ````\r\n@b.ts", ["path b.ts"]],
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

  const lines = (length: number): string => {
    const all: string[] = [];
    for (let each = length; each >= 3; each -= 1) all.push("`".repeat(each));
    return all.join("\n");
  };
  test.each([
    ["fences, each shorter than the one before", lines(2_840)],
    ["a fence that nothing ends, before short lines", `~~~\n${"a\n".repeat(2_000_000)}`],
    ["marks that end no sentence", `@${"!".repeat(990)}a `.repeat(4_000)],
  ])("4 MB of %s take less than 2 s of the processor", (_name, prompt) => {
    expect(prompt.length).toBeGreaterThan(3_900_000);
    const before = process.cpuUsage();
    parseMentions(prompt);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000_000).toBeLessThan(2);
  });
});
