import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, test } from "vitest";
import { sampleOf, seed } from "../sample.ts";
import { pages } from "./pages.ts";
import { repository } from "./run/page-home.ts";
import { commandLanguages, runPage } from "./run/run-page.ts";

/** Paths of the pages to run, in place of a sample. */
const named = process.env["GENNAI_DOCS_PAGES"]?.split(",");

/** Declares a test for so many of the pages that have commands. */
export function testPages(count: number): void {
  beforeAll(async () => {
    // The real one, which also builds what the pages run. npm says first what it runs, unless it was told to be silent.
    const { stdout } = await promisify(execFile)("npm", ["start", "--", "--version"], { cwd: repository });
    if (!/^\d+\.\d+\.\d+\n$/m.test(stdout)) throw new Error(`npm start -- --version printed ${stdout}`);
  });
  describe.concurrent(`the commands of (seed ${seed})`, { timeout: 300_000 }, () => {
    const withCommands = [...pages].filter(([, { blocks }]) =>
      blocks.some(
        ({ language, directives }) =>
          commandLanguages.has(language) && !directives.has("not run") && !directives.has("run by"),
      ),
    );
    const chosen = named ? withCommands.filter(([path]) => named.includes(path)) : sampleOf(withCommands, count);
    test.each(chosen)("%s do what it shows", async (_path, page) => {
      await runPage(page);
    });
  });
}
