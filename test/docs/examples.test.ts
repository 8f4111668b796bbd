import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { sampleOf, seed } from "../../scripts/lib/tests/sample.mjs";
import { pages } from "./pages.ts";
import { repository } from "./run/page-home.ts";
import { ShownOutput } from "./run/shown-output.ts";

const stories = globSync("examples/*/run.mjs", { cwd: repository }).sort();

describe.concurrent(`examples (seed ${seed})`, () => {
  test.each(sampleOf(stories, 1))("node %s tells its story to the end", async (story) => {
    const { stdout } = await promisify(execFile)("node", [story], { cwd: repository });
    expect(stdout.match(/^ {2}holds: /gm)?.length).toBeGreaterThanOrEqual(3);
    // A part that cannot be told here says so, and its page shows more.
    if (/^Left out /m.test(stdout)) return;
    const shown = new ShownOutput();
    const missing = pages
      .get(`${dirname(story)}/README.md`)
      ?.blocks.filter(({ language, text }) => language === "console" && !shown.matches(`…\n${text}…\n`, stdout));
    expect(missing, stdout).toEqual([]);
  });
});

test.each(stories)("%s has a page that says how to run it, and stands in the list", (story) => {
  const page = `${dirname(story)}/README.md`;
  expect(pages.get(page)?.blocks.map(({ text }) => text)).toContain(`node ${story}\n`);
  const list = pages.get("examples/README.md")?.links.map(({ target }) => join("examples", target));
  expect(list).toContain(page);
});
