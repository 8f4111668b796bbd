import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { repository } from "./run/page-home.ts";

export const stories = globSync("examples/*/run.mjs", { cwd: repository }).sort();

/** Which stories are told: the same seed, the same ones. */
const seed = Number(process.env["GENNAI_PAGES_SEED"] || Date.now() % 1_000_000);

/** Declares a test for one of so many examples. */
export function testStories(share: number): void {
  describe.concurrent(`examples (one of ${share}, seed ${seed})`, { timeout: 300_000 }, () => {
    test.each(stories.filter((_story, index) => (index + seed) % share === 0))(
      "node %s tells its story to the end",
      async (story) => {
        const { stdout } = await promisify(execFile)("node", [story], { cwd: repository });
        expect(stdout.match(/^ {2}holds: /gm)?.length).toBeGreaterThanOrEqual(3);
      },
    );
  });
}
