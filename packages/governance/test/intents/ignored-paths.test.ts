import { describe, expect, it } from "vitest";
import { ignoredPaths } from "#intents/ignored-paths";

describe("seed 001 ignore: limit tool rights based on workspace config (use .intentignore-style file for exceptions)", () => {
  it.each([
    ["dist/\n*.pem\n", "dist/a/b.js", true],
    ["dist/\n*.pem\n", "a/b.pem", true],
    ["dist/\n*.pem\n", "src/a.ts", false],
    ["dist/", "dist", true],
    ["vendor", "Vendor/x", true],
    ["/a.ts", "b/a.ts", false],
    ["*.ts\n!keep.ts", "keep.ts", false],
    ["# nothing\n\n", "a", false],
    ["\uFEFFa.ts\r\nb.ts\r\n", "b.ts", true],
    ["a", "", false],
    ["*a*a*a*a*a*b", "anything", true],
  ])("%j ignores %s: %s", (text, path, wanted) => {
    expect(ignoredPaths(text).has(path)).toBe(wanted);
  });

  it("says why it ignores everything", () => {
    expect(ignoredPaths("ok\n*a*a*a*a*a*b").problem).toContain("line 2");
  });
});
