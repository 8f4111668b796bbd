import { expect, it } from "vitest";
import { colourText } from "#look/colour-text";

async function words(path: string, text: string) {
  const lines = text.split("\n");
  const coloured = await colourText(text, path);
  return coloured.flatMap((parts, line) =>
    parts.map(({ from, to, classes }) => [lines[line]?.slice(from, to), classes.split(" ")[0]]),
  );
}

it("finds the words of a language, line by line", async () => {
  const found = await words("src/paint.ts", '// why\nconst colour: Colour = "red";\n');
  expect(found).toEqual(
    expect.arrayContaining([
      ["// why", "tok-comment"],
      ["const", "tok-keyword"],
      ["colour", "tok-variableName"],
      ["Colour", "tok-typeName"],
      ['"red"', "tok-string"],
    ]),
  );
});

it.each([
  ["a.sh", "if true; then exit; fi # why", "# why"],
  ["package.json", '{ "a": true }', "true"],
  ["README.md", "# Title", " Title"],
  ["query.sql", "select 1", "select"],
])("%s", async (path, text, word) => {
  expect((await words(path, text)).map(([found]) => found)).toContain(word);
});

it("leaves without colours what it does not know", async () => {
  expect(await colourText("some: words", "a.unknown")).toEqual([]);
});
