import { mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { describe, expect, test } from "vitest";
import { fitsBlock, inBlock, overwrite, overwriteBlock } from "#file-in-place";

test.each([
  ["", true],
  ["x".repeat(4096), true],
  ["x".repeat(4097), false],
  ["ö".repeat(2048), true],
  [`${"ö".repeat(2048)}x`, false],
])("a block holds 4096 bytes: %#", (text, fits) => {
  expect(fitsBlock(text)).toBe(fits);
  if (fits) expect([Buffer.byteLength(inBlock(text)), inBlock(text).trimEnd()]).toEqual([4096, text]);
});

describe("a file is written over in its place", () => {
  test("where it has the same size, and stays the same file", async () => {
    await using directory = await temporaryDirectory({ file: inBlock("long ".repeat(100)) });
    const path = directory.path("file");
    const { ino } = statSync(path);
    expect(overwriteBlock(path, "short")).toBe(true);
    expect([readFileSync(path, "utf8"), statSync(path).ino]).toEqual([inBlock("short"), ino]);
    expect(overwriteBlock(path, "")).toBe(true);
    expect(readFileSync(path, "utf8").trim()).toBe("");
  });

  test("and nowhere else", async () => {
    await using directory = await temporaryDirectory({ other: "123", target: "12345" });
    symlinkSync(directory.path("target"), directory.path("link"));
    mkdirSync(directory.path("directory"));
    for (const name of ["other", "link", "directory", "nothing", "directory/nothing"])
      expect([name, overwrite(directory.path(name), "abcde")]).toEqual([name, false]);
    expect([await directory.read("other"), await directory.read("target")]).toEqual(["123", "12345"]);
  });
});
