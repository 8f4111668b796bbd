import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SearchQuery } from "@gennai/machine/workspace/workspace";
import { beforeEach, describe, expect, test } from "vitest";

import { type OpenWorkspace, useWorkspace } from "./use-workspace.ts";

/** Finding files by name and by content. */
export function describeSearch(open: OpenWorkspace): void {
  const at = useWorkspace(open);
  const signal = new AbortController().signal;

  describe(`glob, search`, () => {
    const glob = async (pattern: string, base = ".", limit = 100) =>
      at.workspace.glob(pattern, await at.workspace.resolve(base), { limit, signal });
    const search = async (query: Partial<SearchQuery> & { pattern: string }, base = ".") =>
      at.workspace.search(
        { caseSensitive: true, output: "content", context: 0, limit: 100, exclude: [], ...query },
        await at.workspace.resolve(base),
        { signal },
      );

    beforeEach(() => {
      mkdirSync(join(at.directory, ".git"));
      at.file(".git/config", "needle");
      at.file(".gitignore", "node_modules/\nout.ts\n");
      at.file("node_modules/m/index.ts", "needle");
      at.file("out.ts", "needle");
      at.file("src/a.ts", "one\nneedle two\nthree\n");
      at.file("src/deep/b.ts", "Needle\r\n");
      at.file("docs/c.md", "a needle\n");
      at.file(".env", "KEY=needle\n");
      at.file("-weird name.ts", "needle\n");
      // Not ignored by git, as in a directory that is no repository.
      at.file(".orchestration/agent_trace.jsonl", "needle\n");
      at.file(".orchestration/agent_trace.0123456789ab.jsonl", "needle\n");
      symlinkSync(at.outside, join(at.directory, "outside"));
      writeFileSync(join(at.outside, "z.ts"), "needle");
      ["src/deep/b.ts", "src/a.ts", "-weird name.ts"].forEach((path, index) => {
        utimesSync(join(at.directory, path), 1000 + index, 1000 + index);
      });
    });

    test.each([
      ["**/*.ts", ".", ["-weird name.ts", "src/a.ts", "src/deep/b.ts"]],
      ["*.ts", ".", ["-weird name.ts", "src/a.ts", "src/deep/b.ts"]],
      ["src/*.ts", ".", ["src/a.ts"]],
      ["./src/*.ts", ".", ["src/a.ts"]],
      ["deep/*", "src", ["src/deep/b.ts"]],
      ["*.{ts,md}", "src", ["src/a.ts", "src/deep/b.ts"]],
      ["**/.env", ".", [".env"]],
      ["--version", ".", []],
      ["node_modules/**", ".", []],
      ["**/*.jsonl", ".", []],
      ["*", ".orchestration", []],
      [".git/*", ".", []],
      ["outside/**", ".", []],
    ])("glob %s in %s", async (pattern, base, paths) => {
      expect(await glob(pattern, base)).toEqual({ paths, truncated: false });
    });

    test.each([
      ["caf\u00e9", "cafe\u0301"],
      ["cafe\u0301", "caf\u00e9"],
    ])("globs find and leave out %j as %j", async (named, there) => {
      at.file(`${there}/a.ts`, "caf");
      at.file(`other/${there}.ts`, "caf");
      expect((await glob(`${named}/*`)).paths).toEqual([`${there}/a.ts`]);
      const exclude = [`${named}/**`, `${named}.ts`];
      expect((await search({ pattern: "caf", exclude })).lines).toEqual([]);
      expect((await search({ pattern: "caf", exclude }, there)).lines).toEqual([]);
    });

    test("glob gives the newest up to the limit", async () => {
      expect(await glob("*.ts", ".", 1)).toEqual({ paths: ["-weird name.ts"], truncated: true });
    });

    test("search finds lines, hidden files too, but nothing ignored, in .git or behind a link", async () => {
      expect(await search({ pattern: "needle" })).toEqual({
        lines: ["-weird name.ts:1:needle", ".env:1:KEY=needle", "docs/c.md:1:a needle", "src/a.ts:2:needle two"],
        truncated: false,
      });
    });

    test.each([
      ["case", { pattern: "NEEDLE", caseSensitive: false }, "src", ["src/a.ts:2:needle two", "src/deep/b.ts:1:Needle"]],
      [
        "context",
        { pattern: "needle", context: 1 },
        "src",
        ["src/a.ts-1-one", "src/a.ts:2:needle two", "src/a.ts-3-three"],
      ],
      ["files", { pattern: "needle", output: "files" }, "src", ["src/a.ts"]],
      ["count", { pattern: "e", output: "count" }, "src", ["src/a.ts:3", "src/deep/b.ts:1"]],
      ["glob", { pattern: "needle", glob: "*.md" }, ".", ["docs/c.md:1:a needle"]],
      ["glob relative to the base", { pattern: "(?i)needle", glob: "deep/**" }, "src", ["src/deep/b.ts:1:Needle"]],
      [
        "exclude",
        { pattern: "needle", exclude: [".env", "*.md"], glob: "{.env,*.md,a.ts}" },
        ".",
        ["src/a.ts:2:needle two"],
      ],
      [
        "exclude in another case",
        { pattern: "needle", exclude: ["SRC/**", "DOCS/", "-*"] },
        ".",
        [".env:1:KEY=needle"],
      ],
      ["exclude of the base", { pattern: "needle", exclude: ["src/"] }, "src", []],
      ["exclude below the base", { pattern: "(?i)needle", exclude: ["src/deep/**"] }, "src", ["src/a.ts:2:needle two"]],
      ["one file", { pattern: "needle" }, "src/a.ts", ["src/a.ts:2:needle two"]],
      ["one ignored file", { pattern: "needle" }, "out.ts", ["out.ts:1:needle"]],
      [
        "the ledger, where it is named",
        { pattern: "needle" },
        ".orchestration/agent_trace.jsonl",
        [".orchestration/agent_trace.jsonl:1:needle"],
      ],
      ["one excluded file", { pattern: "needle", exclude: [".env*"] }, ".env", []],
      ["a pattern that looks like an option", { pattern: "--files" }, ".", []],
      ["a file that looks like an option", { pattern: "needle" }, "-weird name.ts", ["-weird name.ts:1:needle"]],
    ] as const)("search: %s", async (_, query, base, lines) => {
      expect(await search(query, base)).toEqual({ lines, truncated: false });
    });

    test.each(["two$", "^two\\b.*$", "two$|none", "^(two)?$"])(
      "search: %s finds the end of a line that ends with CRLF",
      async (pattern) => {
        at.file("crlf.txt", "one\r\ntwo\r\nthree $ [\r\n");
        const { lines } = await search({ pattern }, "crlf.txt");
        expect(lines).toEqual(["crlf.txt:2:two"]);
        const literal = await search({ pattern: "e \\$ [$\\[]" }, "crlf.txt");
        expect(literal.lines).toEqual(["crlf.txt:3:three $ ["]);
        for (const both of ["one\\ntwo$", "one\ntwo", "e\\r\n[^\\n]wo"]) {
          expect((await search({ pattern: both }, "crlf.txt")).lines).toEqual(["crlf.txt:1:one", "crlf.txt:2:two"]);
        }
      },
    );

    test("search stops at the limit, cuts long lines and skips binary files", async () => {
      at.file("many.txt", "hit\n".repeat(10_000));
      expect(await search({ pattern: "hit", limit: 3 })).toEqual({
        lines: ["many.txt:1:hit", "many.txt:2:hit", "many.txt:3:hit"],
        truncated: true,
      });
      at.file("long.min.js", `longneedle${"x".repeat(100_000)}`);
      at.file("image.bin", Buffer.from("longneedle\n\0\0\0\n"));
      const { lines } = await search({ pattern: "longneedle" });
      expect(lines).toHaveLength(1);
      expect(lines[0]?.length).toBeLessThan(700);
    });

    test("refuses a pattern that cannot be one", async () => {
      await expect(search({ pattern: "(" })).rejects.toMatchObject({ code: "bad_pattern" });
      await expect(search({ pattern: "a", glob: "{a" })).rejects.toMatchObject({ code: "bad_pattern" });
    });

    test("an abort ends a search with the signal's reason", async () => {
      const reason = new Error("stopped");
      const controller = new AbortController();
      const running = at.workspace.search(
        { pattern: "needle", caseSensitive: true, output: "content", context: 0, limit: 9, exclude: [] },
        await at.workspace.resolve("."),
        { signal: controller.signal },
      );
      controller.abort(reason);
      await expect(running).rejects.toBe(reason);
    });
  });
}
