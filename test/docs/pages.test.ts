import { expect, test } from "vitest";
import { testPages } from "./page-tests.ts";
import { pages } from "./pages.ts";
import { commandLanguages } from "./run/run-page.ts";

/** Blocks with commands that no test runs, each with its reason on the page. It should not grow. */
const mostNotRun = 20;

testPages(6);

test("few blocks are not run, and each says why", () => {
  const notRun = [...pages].flatMap(([path, { blocks }]) =>
    blocks.flatMap(({ line, directives }) => {
      const reason = directives.get("not run");
      return reason === undefined ? [] : [{ place: `${path}:${line}`, reason }];
    }),
  );
  expect(notRun.filter(({ reason }) => reason.length < 10)).toEqual([]);
  expect(notRun.length).toBeLessThanOrEqual(mostNotRun);
});

test("what runs a block in the place of its page is there, and knows the page", () => {
  const runBy = [...pages].flatMap(([path, { blocks }]) =>
    blocks.flatMap(({ directives }) => {
      const runner = directives.get("run by");
      return runner === undefined ? [] : [{ path, runner }];
    }),
  );
  expect(new Set(runBy.map(({ runner }) => runner))).toEqual(new Set(["test/docs/examples.test.ts"]));
  expect(runBy.filter(({ path }) => !/^examples\/[\w-]+\/README\.md$/.test(path))).toEqual([]);
});

test("every block says what it is, and no command hides in another language", () => {
  const others = new Set(["sh", "console", "text", "json", "yaml", "ts", "js", "lua", "markdown"]);
  const wrong = [...pages].flatMap(([path, { blocks }]) =>
    blocks.flatMap(({ line, language, text }) =>
      !others.has(language) || (!commandLanguages.has(language) && /^\$ /m.test(text))
        ? [`${path}:${line} ${language}`]
        : [],
    ),
  );
  expect(wrong).toEqual([]);
});
