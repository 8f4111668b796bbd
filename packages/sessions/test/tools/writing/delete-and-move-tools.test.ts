import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { executionContext } from "@gennai/testkit/execution-context";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256, ToolBench } from "../tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = new ToolBench();
});
afterEach(() => bench[Symbol.dispose]());

describe("Delete and Move", () => {
  test("Delete keeps what was there", async () => {
    bench.file("f.txt", "a\n");
    await bench.run("Read", { file_path: "f.txt" });
    const { outcome, verification } = await bench.run("Delete", { file_path: "f.txt" });
    expect(bench.text("f.txt")).toBeUndefined();
    expect(outcome).toMatchObject({
      changes: [{ operation: "delete", beforeSha256: sha256("a\n"), afterSha256: undefined, blocks: [] }],
      observed: [{ path: "f.txt", sha256: undefined }],
    });
    expect(verification?.state).toBe("verified");
    expect(await bench.blobs.get(sha256("a\n"))).toBeDefined();
    expect(bench.knownFiles.base("f.txt")).toBeUndefined();
  });

  test("Move takes the bytes as they are", async () => {
    const bytes = new Uint8Array([0, 255, 13, 10]);
    bench.file("a.bin", bytes);
    const { analysis, outcome, verification } = await bench.run("Move", { from: "a.bin", to: "sub/b.bin" });
    expect(analysis.effects).toMatchObject([
      { type: "write", operation: "create", path: { relative: "sub/b.bin" } },
      { type: "write", operation: "delete", path: { relative: "a.bin" }, current: sha256(bytes) },
    ]);
    expect(outcome.changes).toMatchObject([
      { operation: "create", afterSha256: sha256(bytes) },
      { operation: "delete" },
    ]);
    expect(bench.text("a.bin")).toBeUndefined();
    expect(bench.text("sub/b.bin")).toBeDefined();
    expect(verification?.state).toBe("verified");
  });

  test.each([
    ["Delete", { file_path: "none" }, /^not_found: /],
    ["Delete", { file_path: "dir" }, /^not_a_file: /],
    ["Delete", { file_path: "." }, /^not_a_file: /],
    ["Delete", { file_path: "../x" }, /^outside_workspace: /],
    ["Move", { from: "none", to: "x" }, /^not_found: /],
    ["Move", { from: "f.txt", to: "g.txt" }, /^already_exists: /],
    ["Move", { from: "f.txt", to: "./f.txt" }, /^no_change: /],
    ["Move", { from: "f.txt", to: "../f.txt" }, /^outside_workspace: /],
    ["Move", { from: "dir", to: "dir2" }, /^not_a_file: /],
  ])("%s %j is refused", async (name, args, want) => {
    mkdirSync(join(bench.root, "dir"));
    bench.file("f.txt", "a\n");
    bench.file("g.txt", "b\n");
    expect(await bench.failure(name, args)).toMatch(want);
    expect([bench.text("f.txt"), bench.text("g.txt")]).toEqual(["a\n", "b\n"]);
  });

  test("a call that another tool analysed does not run", async () => {
    bench.file("f.txt", "a\n");
    const { analysis } = await bench.analyse("Delete", { file_path: "f.txt" });
    const context = executionContext();
    const copied = { ...analysis, effects: analysis.effects.map((effect) => ({ ...effect })) };
    await expect(bench.tools.get("Delete")?.execute({ file_path: "f.txt" }, copied, context)).rejects.toMatchObject({
      code: "not_analysed",
    });
    expect(bench.text("f.txt")).toBe("a\n");
  });
});
