import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, test } from "vitest";
import { pages } from "./pages.ts";
import { repository } from "./run/page-home.ts";
import { commandLanguages, runPage } from "./run/run-page.ts";

/** Which pages are run: the same seed, the same ones. */
const seed = Number(process.env["GENNAI_PAGES_SEED"] || Date.now() % 1_000_000);

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
    test.each(withCommands.filter((_page, index) => (index + seed) % share === 0))(
      "%s do what it shows",
      async (_path, page) => {
        await runPage(page);
      },
    );
  });
}
