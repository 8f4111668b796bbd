import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { sampleOf, seed } from "../sample.ts";
import { repository } from "./run/page-home.ts";

export const stories = globSync("examples/*/run.mjs", { cwd: repository }).sort();

/** Declares a test for so many of the examples. */
export function testStories(count: number): void {
  describe.concurrent(`examples (seed ${seed})`, { timeout: 300_000 }, () => {
    test.each(sampleOf(stories, count))("node %s tells its story to the end", async (story) => {
      const { stdout } = await promisify(execFile)("node", [story], { cwd: repository });
      expect(stdout.match(/^ {2}holds: /gm)?.length).toBeGreaterThanOrEqual(3);
    });
  });
}
