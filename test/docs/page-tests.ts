import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, test } from "vitest";
import { pages } from "./pages.ts";
import { repository } from "./run/page-home.ts";
import { commandLanguages, runPage } from "./run/run-page.ts";

/** Which pages are run: the same seed, the same ones. */
const seed = Number(process.env["GENNAI_PAGES_SEED"] || Date.now() % 1_000_000);
/** Paths of the pages to run, in place of a share. */
const named = process.env["GENNAI_DOCS_PAGES"]?.split(",");

/** Declares a test for one of so many pages that have commands. */
export function testPages(share: number): void {
  beforeAll(async () => {
    // The real one, which also builds what the pages run. npm says first what it runs, unless it was told to be silent.
    const { stdout } = await promisify(execFile)("npm", ["start", "--", "--version"], { cwd: repository });
    if (!/^\d+\.\d+\.\d+\n$/m.test(stdout)) throw new Error(`npm start -- --version printed ${stdout}`);
  });
  describe.concurrent(`the commands of (one of ${share}, seed ${seed})`, { timeout: 300_000 }, () => {
    const withCommands = [...pages].filter(([, { blocks }]) =>
      blocks.some(
        ({ language, directives }) =>
          commandLanguages.has(language) && !directives.has("not run") && !directives.has("run by"),
      ),
    );
    const isChosen = (path: string, index: number) => named?.includes(path) ?? (index + seed) % share === 0;
    test.each(withCommands.filter(([path], index) => isChosen(path, index)))(
      "%s do what it shows",
      async (_path, page) => {
        await runPage(page);
      },
    );
  });
}
