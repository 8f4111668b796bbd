import { readdirSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { SlowPatternWorker } from "#rules/slow-pattern-worker";

const worker = new SlowPatternWorker();
const options = { signal: new AbortController().signal };
afterAll(() => worker[Symbol.asyncDispose]());

const forced = { source: "--force(?!-with-lease)", flags: "" };

test.each([
  ["a match", forced, "git push --force", "match"],
  ["no match", forced, "git push --force-with-lease", "no-match"],
  ["flags", { source: "FORCE(?=d)", flags: "i" }, "forced", "match"],
  ["exponential time", { source: "(?=x?)(a+)+$", flags: "" }, `${"a".repeat(60)}b`, "gave-up"],
  ["after one that took too long", forced, "git push --force", "match"],
  ["a text above 4 KiB", forced, `${"x".repeat(4096)} --force`, "gave-up"],
  ["a pattern that does not compile", { source: "(", flags: "" }, "x", "gave-up"],
])("%s", async (_, expression, text, wanted) => {
  expect(await worker.matches(expression, text, options)).toBe(wanted);
});

test("many at once are answered each", async () => {
  const texts = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? "--force" : "--force-with-lease"));
  const answers = await Promise.all(texts.map((text) => worker.matches(forced, text, options)));
  expect(answers).toEqual(texts.map((text) => (text === "--force" ? "match" : "no-match")));
});

test("a closed one that is asked again starts anew", async () => {
  await using other = new SlowPatternWorker();
  expect(await other.matches(forced, "--force", options)).toBe("match");
  await other[Symbol.asyncDispose]();
  expect(await other.matches(forced, "--force", options)).toBe("match");
});

test("one that is asked nothing for a while has no thread, and has one again when it is asked", async () => {
  const threads = () => readdirSync("/proc/self/task").length;
  await using other = new SlowPatternWorker({ idleMs: 100 });
  const before = threads();
  expect(await other.matches(forced, "--force", options)).toBe("match");
  expect(threads()).toBeGreaterThan(before);
  await expect.poll(threads).toBe(before);
  expect(await other.matches(forced, "--force", options)).toBe("match");
});
