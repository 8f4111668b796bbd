import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { pages } from "./pages.ts";
import { repository } from "./run/page-home.ts";
import { commandLanguages, runPage } from "./run/run-page.ts";

/** Blocks with commands that no test runs, each with its reason on the page. It should not grow. */
const mostNotRun = 21;

/** Paths of the pages to run, in place of a sample. */
const named = process.env["GENNAI_DOCS_PAGES"]?.split(",");

beforeAll(async () => {
  // The real one, which also builds what the pages run. npm says first what it runs, unless it was told to be silent.
  const { stdout } = await promisify(execFile)("npm", ["start", "--", "--version"], { cwd: repository });
  if (!/^\d+\.\d+\.\d+\n$/m.test(stdout)) throw new Error(`npm start -- --version printed ${stdout}`);
});
describe.concurrent(`the commands of (seed ${seed})`, () => {
  const withCommands = [...pages].filter(([, { blocks }]) =>
    blocks.some(
      ({ language, directives }) =>
        commandLanguages.has(language) && !directives.has("not run") && !directives.has("run by"),
    ),
  );
  const chosen = named ? withCommands.filter(([path]) => named.includes(path)) : sampleOf(withCommands, 3);
  test.each(chosen)("%s do what it shows", async (_path, page) => {
    await runPage(page);
  });
});

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
  const pagesOf: Readonly<Record<string, RegExp>> = {
    "test/docs/examples.test.ts": /^examples\/[\w-]+\/README\.md$/,
    "test/release/client-package.test.ts": /^docs\/guides\/write-a-client\.md$/,
  };
  expect(new Set(runBy.map(({ runner }) => runner))).toEqual(new Set(Object.keys(pagesOf)));
  expect(runBy.filter(({ path, runner }) => pagesOf[runner]?.test(path) !== true)).toEqual([]);
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
