import { linkSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isToolFact } from "#tools/tool-fact";
import { sha256, ToolBench } from "../tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = new ToolBench();
});
afterEach(() => bench[Symbol.dispose]());

const read = (path: string) => bench.run("Read", { file_path: path });

describe("Edit", () => {
  const text = "function add(a, b) {\n  return a + b;\n}\n\nfunction sub(a, b) {\n  return a - b;\n}\n";

  test("replaces one place, and gives every record of it", async () => {
    bench.file("src/m.ts", text);
    await read("src/m.ts");
    const { analysis, outcome, verification } = await bench.run("Edit", {
      file_path: "src/m.ts",
      old_string: "  return a + b;\n}",
      new_string: "  // sum\n  return a + b + 0;\n}",
    });
    const after = text.replace("  return a + b;", "  // sum\n  return a + b + 0;");
    expect(bench.text("src/m.ts")).toBe(after);
    expect(analysis).toMatchObject({
      statement: "Edit src/m.ts",
      effects: [
        {
          type: "write",
          operation: "update",
          path: { relative: "src/m.ts", inside: true },
          base: { source: "disk", sha256: sha256(text) },
          current: sha256(text),
          content: after,
        },
      ],
    });
    expect(outcome).toMatchObject({
      output: "Edit src/m.ts. Changed lines: 2-3.",
      changes: [
        {
          path: "src/m.ts",
          operation: "update",
          beforeSha256: sha256(text),
          afterSha256: sha256(after),
          blocks: [{ startLine: 2, endLine: 3, sha256: sha256("  // sum\n  return a + b + 0;") }],
        },
      ],
      observed: [{ path: "src/m.ts", source: "disk", sha256: sha256(after) }],
      facts: [
        {
          type: "change-set",
          files: [{ path: "src/m.ts", operation: "update", beforeSha256: sha256(text), afterSha256: sha256(after) }],
        },
      ],
    });
    expect(outcome.facts?.every(isToolFact)).toBe(true);
    expect(Buffer.from((await bench.blobs.get(sha256(text))) ?? []).toString()).toBe(text);
    expect(verification?.state).toBe("verified");
  });

  test.each([
    ["CRLF stays", "a\r\nb\r\nc\r\n", { old_string: "a\nb\n", new_string: "a\nx\ny\n" }, "a\r\nx\r\ny\r\nc\r\n"],
    ["a byte order mark stays", "\uFEFFa\nb\n", { old_string: "a", new_string: "x" }, "\uFEFFx\nb\n"],
    [
      "mixed line ends stay where nothing changed",
      "a\r\nb\nc\r\n",
      { old_string: "b\nc", new_string: "B\nc" },
      "a\r\nB\nc\r\n",
    ],
    ["every place", "x y x\nx\n", { old_string: "x", new_string: "z", replace_all: true }, "z y z\nz\n"],
    ["unicode", "grüße 🐢\n", { old_string: "🐢", new_string: "世界" }, "grüße 世界\n"],
    ["to nothing", "a\nb\n", { old_string: "b\n", new_string: "" }, "a\n"],
    ["the last line without an end", "a\nb", { old_string: "b", new_string: "c" }, "a\nc"],
    ["dollar signs are themselves", "a\n", { old_string: "a", new_string: "$&$1$$" }, "$&$1$$\n"],
  ])("%s", async (_name, before, args, want) => {
    bench.file("f.txt", before);
    await read("f.txt");
    await bench.run("Edit", { file_path: "f.txt", ...args });
    expect(bench.text("f.txt")).toBe(want);
  });

  test.each([
    [
      "no match",
      { old_string: "return a * b;" },
      /^no_match: old_string is not in m\.ts; nothing was changed\. \| The nearest text begins at line \d/,
    ],
    [
      "several matches",
      { old_string: "return a" },
      /^ambiguous_match: old_string stands at 2 places in m\.ts \(lines 2, 6\)/,
    ],
    [
      "two places that overlap",
      { file_path: "again.txt", old_string: "a\nb\na\n" },
      /^ambiguous_match: old_string stands at 2 places in again\.txt \(lines 1, 3\)/,
    ],
    ["an empty old_string", { old_string: "" }, /^bad_arguments: old_string must not be empty; use Write/],
    ["the same text", { old_string: "x" }, /^bad_arguments: old_string and new_string are the same/],
    [
      "a missing file",
      { file_path: "none.ts", old_string: "a" },
      /^not_found: There is no file none\.ts\. \| Use Write/,
    ],
    ["a directory", { file_path: "dir", old_string: "a" }, /^not_a_file: /],
    ["a binary file", { file_path: "image.png", old_string: "a" }, /^binary_file: /],
    ["a huge file", { file_path: "big.txt", old_string: "a" }, /^too_large: /],
    ["a file outside", { file_path: "../elsewhere.txt", old_string: "a" }, /^outside_workspace: /],
    ["a mask", { old_string: "return a + b", new_string: "key = [REDACTED:aws]" }, /^masked_text: /],
  ])("refuses %s", async (_name, args, want) => {
    mkdirSync(join(bench.root, "dir"));
    bench.file("m.ts", text);
    bench.file("image.png", new Uint8Array([1, 0, 2]));
    writeFileSync(join(bench.root, "big.txt"), "");
    truncateSync(join(bench.root, "big.txt"), 100 * 1024 * 1024);
    bench.file("again.txt", "a\nb\na\nb\na\n");
    await read("m.ts");
    expect(await bench.failure("Edit", { file_path: "m.ts", new_string: "x", ...args })).toMatch(want);
    expect(bench.text("m.ts")).toBe(text);
    expect(bench.blobs.blobs.size).toBe(0);
  });

  test("fits an edit but for indentation, and says what it made of it", async () => {
    bench.file("m.ts", "class A {\n\tf() {\n\t\treturn 1;\n\t}\n}\n");
    await read("m.ts");
    const { analysis, outcome } = await bench.run("Edit", {
      file_path: "m.ts",
      old_string: "    f() {\n        return 1;\n    }\n",
      new_string: "    f() {\n        if (x) {\n            return 2;\n        }\n    }\n",
    });
    expect(bench.text("m.ts")).toBe("class A {\n\tf() {\n\t\tif (x) {\n\t\t\treturn 2;\n\t\t}\n\t}\n}\n");
    expect(analysis.args).toEqual({
      file_path: "m.ts",
      old_string: "\tf() {\n\t\treturn 1;\n\t}\n",
      new_string: "\tf() {\n\t\tif (x) {\n\t\t\treturn 2;\n\t\t}\n\t}\n",
    });
    expect(outcome.output).toBe(
      "Edit m.ts. Changed lines: 3-5.\nold_string fits lines 2-4 but for indentation; the text there now:\n" +
        "\tf() {\n\t\tif (x) {\n\t\t\treturn 2;\n\t\t}\n\t}",
    );
  });

  test("an edit of a file that was not read is not given in the file's words", async () => {
    bench.file(".env", "\tKEY=hunter2\n\tB\n");
    const { analysis } = await bench.analyse("Edit", {
      file_path: ".env",
      old_string: "KEY=hunter2\nB\n",
      new_string: "x\n",
    });
    expect(analysis).toMatchObject({ effects: [{ type: "write", content: "\tx\n" }] });
    expect(analysis.args).toBeUndefined();
  });

  test("what an unread file holds is not told before the policies have spoken", async () => {
    bench.file(".env", "KEY=hunter2\n");
    for (const old_string of ["KEY=hunter3", "e", "KEY=hunter2"]) {
      const { analysis } = await bench.analyse("Edit", { file_path: ".env", old_string, new_string: "x" });
      expect(analysis.effects).toMatchObject([
        { type: "write", operation: "update", base: undefined, current: sha256("KEY=hunter2\n") },
      ]);
    }
    const { execute } = await bench.analyse("Edit", { file_path: ".env", old_string: "nowhere", new_string: "x" });
    await expect(execute()).rejects.toMatchObject({ code: "no_match" });
  });

  test("a file outside is not even looked at", async () => {
    const { analysis } = await bench.analyse("Edit", { file_path: "/etc/hostname", old_string: "a", new_string: "b" });
    expect(analysis.effects).toMatchObject([
      { type: "write", path: { inside: false }, base: undefined, current: undefined },
    ]);
  });

  test.each([
    ["changed", () => bench.file("m.ts", "other\n")],
    ["deleted", () => rmSync(join(bench.root, "m.ts"))],
  ])("seed 001 stale: a file that is %s after the decision is stale", async (_name, meddle) => {
    bench.file("m.ts", text);
    await read("m.ts");
    const { execute } = await bench.analyse("Edit", { file_path: "m.ts", old_string: "add", new_string: "plus" });
    meddle();
    await expect(execute()).rejects.toMatchObject({ code: "stale_file" });
    expect(bench.text("m.ts") ?? "").not.toContain("plus");
  });

  test("verification sees a file that is not what was written", async () => {
    bench.file("m.ts", "a\n");
    await read("m.ts");
    const { outcome } = await bench.run("Edit", { file_path: "m.ts", old_string: "a", new_string: "b" });
    bench.file("m.ts", "c\n");
    const context = { callId: "c", turnId: "t", signal: new AbortController().signal };
    const verify = bench.tools.get("Edit")?.verify?.bind(bench.tools.get("Edit"));
    expect((await verify?.({}, outcome, context))?.state).toBe("failed");
  });
});

describe("MultiEdit", () => {
  test("fits each edit by itself, and gives the exact ones as they are", async () => {
    bench.file("f.txt", "it’s\nb  \nc\n");
    await read("f.txt");
    const { analysis, outcome } = await bench.run("MultiEdit", {
      file_path: "f.txt",
      edits: [
        { old_string: "c", new_string: "C" },
        { old_string: "it's\n", new_string: "it's not\n" },
      ],
    });
    expect(bench.text("f.txt")).toBe("it’s not\nb  \nC\n");
    expect(analysis.args).toEqual({
      file_path: "f.txt",
      edits: [
        { old_string: "c", new_string: "C" },
        { old_string: "it’s\n", new_string: "it’s not\n" },
      ],
    });
    expect(outcome.output).toContain("old_string fits line 1 but for characters that look alike");
  });

  test("makes edits in order, and blocks follow them", async () => {
    bench.file("f.txt", "a\nb\nc\nd\n");
    await read("f.txt");
    const { outcome } = await bench.run("MultiEdit", {
      file_path: "f.txt",
      edits: [
        { old_string: "d", new_string: "D" },
        { old_string: "a\n", new_string: "a\na2\na3\n" },
        { old_string: "a3", new_string: "A3" },
      ],
    });
    expect(bench.text("f.txt")).toBe("a\na2\nA3\nb\nc\nD\n");
    expect(outcome.changes?.[0]?.blocks).toMatchObject([
      { startLine: 2, endLine: 3, sha256: sha256("a2\nA3") },
      { startLine: 6, endLine: 6, sha256: sha256("D") },
    ]);
  });

  test("one that fails leaves everything", async () => {
    bench.file("f.txt", "a\nb\n");
    await read("f.txt");
    const edits = [
      { old_string: "a", new_string: "x" },
      { old_string: "a", new_string: "y" },
    ];
    expect(await bench.failure("MultiEdit", { file_path: "f.txt", edits })).toMatch(
      /^no_match: old_string is not in f\.txt \(edits\[1\]\)/,
    );
    expect(bench.text("f.txt")).toBe("a\nb\n");
    expect(await bench.failure("MultiEdit", { file_path: "f.txt", edits: [] })).toMatch(/at least one edit/);
  });
});

describe("Write", () => {
  test("makes a file, with its directories", async () => {
    const { analysis, outcome, verification } = await bench.run("Write", {
      file_path: "new/dir/f.txt",
      content: "a\r\nb",
    });
    expect(bench.text("new/dir/f.txt")).toBe("a\r\nb");
    expect(analysis).toMatchObject({
      statement: "Create new/dir/f.txt",
      effects: [{ operation: "create", current: undefined }],
    });
    expect(outcome).toMatchObject({
      output: "Create new/dir/f.txt.",
      changes: [
        {
          operation: "create",
          beforeSha256: undefined,
          blocks: [{ startLine: 1, endLine: 2, sha256: sha256("a\nb") }],
        },
      ],
    });
    expect(verification?.state).toBe("verified");
  });

  test.each([
    ["LF", "a\nb\n", "a\nc\n", "a\nc\n"],
    ["CRLF stays", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"],
    ["CRLF that is asked for", "a\nb\n", "a\r\nc\r\n", "a\r\nc\r\n"],
    ["mixed line ends stay where nothing changed", "a\r\nb\nc\nd\r\n", "a\nB\nc\nd\n", "a\r\nB\nc\nd\r\n"],
    ["a byte order mark stays", "\uFEFFa\n", "b\n", "\uFEFFb\n"],
    ["a byte order mark stays one", "\uFEFFa\n", "\uFEFFb\n", "\uFEFFb\n"],
    ["to nothing", "a\n", "", ""],
    ["from nothing", "", "a\n", "a\n"],
  ])("replaces: %s", async (_name, before, content, want) => {
    bench.file("f.txt", before);
    await read("f.txt");
    const { outcome } = await bench.run("Write", { file_path: "f.txt", content });
    expect(bench.text("f.txt")).toBe(want);
    expect(outcome.changes?.[0]).toMatchObject({
      operation: "update",
      beforeSha256: sha256(before),
      afterSha256: sha256(want),
    });
  });

  test("only the lines that differ are blocks", async () => {
    bench.file("f.txt", "1\n2\n3\n4\n5\n");
    await read("f.txt");
    const { outcome } = await bench.run("Write", { file_path: "f.txt", content: "1\ntwo\n3\n4\nfive\n" });
    expect(outcome.changes?.[0]?.blocks).toMatchObject([
      { startLine: 2, endLine: 2 },
      { startLine: 5, endLine: 5 },
    ]);
  });

  test.each([
    ["the same content", { file_path: "f.txt", content: "a\n" }, /^no_change: /],
    ["a directory", { file_path: "dir", content: "a\n" }, /^not_a_file: /],
    ["a path through a file", { file_path: "f.txt/x", content: "a\n" }, /^\w+: /],
    ["a mask", { file_path: "k.txt", content: "key=[REDACTED:token]\n" }, /^masked_text: /],
    ["no content", { file_path: "f.txt" }, /^bad_arguments: /],
  ])("refuses %s", async (_name, args, want) => {
    mkdirSync(join(bench.root, "dir"));
    bench.file("f.txt", "a\n");
    await read("f.txt");
    expect(await bench.failure("Write", args)).toMatch(want);
    expect(bench.text("f.txt")).toBe("a\n");
  });

  test("a file that appears after the decision is not overwritten", async () => {
    const { execute } = await bench.analyse("Write", { file_path: "f.txt", content: "mine\n" });
    bench.file("f.txt", "theirs\n");
    await expect(execute()).rejects.toMatchObject({ code: "stale_file" });
    expect(bench.text("f.txt")).toBe("theirs\n");
  });
});

test("MultiEdit looks through a large file for so many texts that it has only nearly", async () => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `\tconst value${index} = ${"x".repeat(12)};`);
  bench.file("large.ts", `${lines.join("\n")}\n`);
  await bench.run("Read", { file_path: "large.ts" });
  const edits = (count: number, space: string) =>
    lines.slice(0, count).map((line) => ({ old_string: `${line}${space}\n`, new_string: `${line} //\n` }));
  const nearly = (count: number) => ({ file_path: "large.ts", edits: edits(count, " ") });
  expect(await bench.failure("MultiEdit", nearly(200))).toMatch(/^no_match: .*edits\[\d+\].* \| Copy it exactly: /);
  await bench.run("MultiEdit", nearly(5));
  await bench.run("MultiEdit", { file_path: "large.ts", edits: edits(200, "").slice(5) });
  expect(bench.text("large.ts")?.match(/ \/\/$/gm)).toHaveLength(200);
});

test("a change of one of several names of a file says that the others keep the old content", async () => {
  bench.file("a.txt", "old\n");
  linkSync(join(bench.root, "a.txt"), join(bench.root, "b.txt"));
  await read("a.txt");
  const { outcome } = await bench.run("Edit", { file_path: "a.txt", old_string: "old", new_string: "new" });
  expect(outcome.output).toContain("[a.txt has other names (hard links): they keep the old content]");
  expect([bench.text("a.txt"), bench.text("b.txt")]).toEqual(["new\n", "old\n"]);
});
