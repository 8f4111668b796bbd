import { expect, test } from "vitest";
import { hasCodeLanguage, loadCodeLanguage } from "#look/code-language";

test.each([
  ["src/app.ts", "const one = 1;", "VariableDeclaration"],
  ["a.tsx", "const one = <p>{two as string}</p>;", "JSXElement"],
  ["UPPER.PY", "def one(): pass", "FunctionDefinition"],
  ["docs/readme.md", "# One", "ATXHeading1"],
  ["a/b.json", '{"one": 1}', "Property"],
  ["Dockerfile", "FROM scratch", "keyword"],
  ["deploy/run.sh", 'if true; then echo "one"; fi', "string"],
  [".npmrc", "# one", "comment"],
])("%s is read as what its name says", async (path, text, node) => {
  expect(hasCodeLanguage(path)).toBe(true);
  const support = await loadCodeLanguage(path);
  const nodes: string[] = [];
  support?.language.parser.parse(text).iterate({ enter: ({ name }) => void nodes.push(name) });
  expect(nodes).toContain(node);
});

test("a file whose name says nothing has no language", async () => {
  expect(hasCodeLanguage("LICENSE")).toBe(false);
  expect(hasCodeLanguage("ts")).toBe(false);
  expect(await loadCodeLanguage("picture.png")).toBeUndefined();
});
