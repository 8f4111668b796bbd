import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { samplePng } from "@gennai/testkit/sample-images";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ToolPorts } from "#turn/tool-set";
import { noise, pem } from "../../../../machine/test/redaction/secret-cases.ts";
import { sha256, ToolBench } from "../tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = new ToolBench();
});
afterEach(() => bench[Symbol.dispose]());

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("Read from disk", () => {
  test.each([
    ["a text", "a\nb\n", {}, "1\ta\n2\tb"],
    ["no newline at the end", "a\nb", {}, "1\ta\n2\tb\n[no newline at end of file]"],
    ["nothing", "", {}, "[empty file]"],
    ["one empty line", "\n", {}, "1\t"],
    ["CRLF", "a\r\nb\r\n", {}, "1\ta\n2\tb\n[CRLF line endings]"],
    ["mixed", "a\r\nb\n", {}, "1\ta\n2\tb\n[mixed line endings]"],
    ["a byte order mark", "\uFEFFa\n", {}, "1\ta"],
    ["unicode", "grüße 🐢\n日本\n", {}, "1\tgrüße 🐢\n2\t日本"],
    ["a part", numbers(10), { offset: 3, limit: 2 }, "3\tline 3\n4\tline 4\n[lines 3-4 of 10; read on with offset 5]"],
    ["the end", "a\nb\nc", { offset: 3 }, "3\tc\n[no newline at end of file]\n[lines 3-3 of 3]"],
    ["a part without the end", "a\nb", { limit: 1 }, "1\ta\n[lines 1-1 of 2; read on with offset 2]"],
  ])("%s", async (_name, content, range, want) => {
    bench.file("dir/f.txt", content);
    const { outcome, analysis } = await bench.run("Read", { file_path: "dir/f.txt", ...range });
    expect(outcome.output).toBe(want);
    expect(outcome.truncated).toBe(/\[lines/.test(want));
    expect(outcome.observed).toEqual([{ path: "dir/f.txt", source: "disk", sha256: sha256(content), numbered: true }]);
    expect(analysis).toMatchObject({
      statement: "Read dir/f.txt",
      effects: [{ type: "read", path: { raw: "dir/f.txt" } }],
    });
  });

  test("a part from the middle of a private key holds nothing of it, on disk and in an editor", async () => {
    const content = `const key = \`${pem}\`;\nconst after = 1;\n`;
    bench.file("keys.ts", content);
    const part = { file_path: "keys.ts", offset: 20, limit: 100 };
    const output = await bench.output("Read", part);
    expect(output).toContain("20\t[REDACTED:private-key]\n");
    expect(output).toContain("const after = 1;");
    expect(output).not.toContain(noise(64));
    bench.editor.abilities.add("file-read");
    bench.editor.buffers.set("keys.ts", { content: `// unsaved\n${content}`, dirty: true });
    expect(await bench.output("Read", part)).not.toContain(noise(64));
  });

  test("a kept output is no file, also where commands of the session see other files", async () => {
    // Only what says where commands are staged is looked at here.
    const staging = { session: "s", stages: { layer: async () => undefined } } as unknown as ToolPorts["staging"];
    using staged = new ToolBench({ staging, outputs: { text: async () => "kept\n" } });
    expect(await staged.output("Read", { file_path: "@output/0123456789ab" })).toBe("1\tkept");
  });

  test("2000 lines at most, unless asked for", async () => {
    bench.file("f.txt", numbers(5321));
    const output = await bench.output("Read", { file_path: "f.txt" });
    expect(output).toMatch(/\n2000\tline 2000\n\[lines 1-2000 of 5321; read on with offset 2001\]$/);
    expect(await bench.output("Read", { file_path: "f.txt", limit: 6000 })).toMatch(/\n5321\tline 5321$/);
  });

  test("long lines are cut, never within a character", async () => {
    bench.file("f.txt", `short\n${"x".repeat(1999)}🐢${"y".repeat(100)}\n`);
    const output = await bench.output("Read", { file_path: "f.txt" });
    expect(output).toBe(`1\tshort\n2\t${"x".repeat(1999)}\n[cut after 2000 characters: line 2]`);
  });

  test.each([
    ["missing", { file_path: "none.txt" }, /^not_found: /],
    ["a directory", { file_path: "dir" }, /^not_a_file: /],
    ["100 MB, sparse", { file_path: "big.bin" }, /^too_large: .*Grep/],
    ["past the end", { file_path: "short.txt", offset: 9 }, /^past_end: short\.txt has no line 9; it has 2/],
    ["no path", { file_path: "" }, /^bad_arguments: file_path must not be empty/],
    ["offset 0", { file_path: "a", offset: 0 }, /^bad_arguments: offset counts lines from 1/],
    ["an unknown argument", { file_path: "a", lines: 3 }, /^bad_arguments: Unrecognized key: "lines"/],
    ["a NUL", { file_path: "a\0b" }, /^bad_path: /],
  ])("refuses what is %s", async (_name, args, want) => {
    mkdirSync(join(bench.root, "dir"));
    bench.file("short.txt", "a\nb\n");
    writeFileSync(join(bench.root, "big.bin"), "");
    truncateSync(join(bench.root, "big.bin"), 100 * 1024 * 1024);
    expect(await bench.failure("Read", args)).toMatch(want);
  });

  test.each([
    [
      "binary",
      new Uint8Array([0x89, 0x50, 0, 1, 2]),
      /^\[f is not a text file \(5 bytes\); it can be deleted, moved or replaced\. /,
    ],
    ["a PDF", Buffer.from("%PDF-1.7\n%\xe2\xe3", "latin1"), /pdftotext -layout -f 1 -l 5/],
    ["not UTF-8", new Uint8Array([0x67, 0x72, 0xfc, 0x0a]), /Only UTF-8 text/],
  ])("nothing of what is %s is shown, but it is known afterwards", async (_name, bytes, want) => {
    bench.file("f", bytes);
    const { outcome } = await bench.run("Read", { file_path: "f" });
    expect(outcome.output).toMatch(want);
    expect(outcome.observed).toEqual([{ path: "f", source: "disk", sha256: sha256(bytes) }]);
  });

  test("an image is shown, whatever it is called, also beside an editor that knows no text of it", async () => {
    const image = samplePng(3, 2);
    for (const name of ["logo.png", "logo.txt"]) bench.file(name, image);
    const want = (name: string) => ({
      output: `[image ${name}: PNG, 3 x 2 pixels, 71 bytes]`,
      images: [{ bytes: image, mediaType: "image/png" }],
      observed: [{ path: name, source: "disk", sha256: sha256(image) }],
    });
    expect((await bench.run("Read", { file_path: "logo.png" })).outcome).toMatchObject(want("logo.png"));
    bench.editor.abilities.add("file-read");
    expect((await bench.run("Read", { file_path: "logo.png" })).outcome).toMatchObject(want("logo.png"));
    expect(bench.editor.asked).toEqual([]);
    expect((await bench.run("Read", { file_path: "logo.txt" })).outcome).toMatchObject(want("logo.txt"));
  });

  test("an image that models do not take is refused with numbers, and what to do", async () => {
    const bomb = samplePng();
    new DataView(bomb.buffer).setUint32(16, 100_000);
    bench.file("bomb.png", bomb);
    bench.file("cut.gif", "GIF89a");
    bench.file("cut.png", samplePng().subarray(0, 24));
    expect(await bench.failure("Read", { file_path: "bomb.png" })).toMatch(
      /^unfit_image: bomb\.png cannot be shown\. PNG, 100000 x 2 pixels, \d+ bytes: models take at most 3750000 bytes and 8000 pixels a side.*smaller copy/,
    );
    expect(await bench.failure("Read", { file_path: "cut.gif" })).toMatch(/^unfit_image: .*damaged or cut/);
    expect(await bench.failure("Read", { file_path: "cut.png" })).toMatch(/^unfit_image: .*damaged or cut/);
  });

  test("a file that goes away after the decision is not found", async () => {
    bench.file("f.txt", "a\n");
    const { execute } = await bench.analyse("Read", { file_path: "f.txt" });
    (await import("node:fs")).rmSync(join(bench.root, "f.txt"));
    await expect(execute()).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("Read from the editor", () => {
  beforeEach(() => {
    bench.editor.abilities.add("file-read");
    bench.file("f.txt", "saved\n");
  });

  test("unsaved changes are seen, and are a base of their own", async () => {
    bench.editor.buffers.set("f.txt", { content: "unsaved\nmore", dirty: true });
    const { outcome } = await bench.run("Read", { file_path: "./f.txt", offset: 1, limit: 200 });
    expect(outcome.output).toBe("1\tunsaved\n2\tmore\n[no newline at end of file]\n[unsaved changes in the editor]");
    expect(outcome.observed).toEqual([
      { path: "f.txt", source: "buffer", sha256: sha256("unsaved\nmore"), numbered: true },
    ]);
    expect(bench.editor.asked).toEqual([
      { path: "f.txt", offset: 1, limit: 200, reason: "Need latest buffer including unsaved changes" },
    ]);
  });

  test("a buffer without changes is the disk", async () => {
    bench.editor.buffers.set("f.txt", { content: "saved\n" });
    const { outcome } = await bench.run("Read", { file_path: "f.txt" });
    expect(outcome).toMatchObject({ output: "1\tsaved", observed: [{ source: "disk", sha256: sha256("saved\n") }] });
  });

  test("a part, by the editor's count of lines", async () => {
    bench.editor.buffers.set("f.txt", { content: numbers(30) });
    const part = (args: object) => bench.output("Read", { file_path: "f.txt", ...args });
    expect(await part({ offset: 3, limit: 1 })).toBe("3\tline 3\n[lines 3-3 of 31; read on with offset 4]");
    expect(await part({ offset: 30 })).toBe("30\tline 30\n[lines 30-30 of 30]");
    expect(await part({})).not.toContain("[");
    expect(await bench.failure("Read", { file_path: "f.txt", offset: 99 })).toMatch(/^past_end/);
  });

  test.each([["client_error" as const], ["client_timeout" as const]])(
    "%s falls back to the disk, and says so",
    async (code) => {
      bench.editor.failure = new ToolFailure(code, "no answer");
      const { outcome } = await bench.run("Read", { file_path: "f.txt" });
      expect(outcome.output).toBe("1\tsaved\n[read from disk: the editor did not answer]");
      expect(outcome.observed).toEqual([{ path: "f.txt", source: "disk", sha256: sha256("saved\n"), numbered: true }]);
    },
  );

  test.each([
    ["the disk, when the text is the same", "saved\n", { path: "f.txt", source: "disk", sha256: sha256("saved\n") }],
    ["the buffer, when it is not", "other\n", { path: "f.txt", source: "buffer", sha256: sha256("other\n") }],
  ])("an answer without hashes observes %s", async (_name, content, want) => {
    bench.editor.buffers.set("f.txt", { content, sha256: "", source: "disk", totalLines: 0 });
    expect((await bench.run("Read", { file_path: "f.txt" })).outcome.observed).toEqual([{ ...want, numbered: true }]);
  });

  test("a directory or a huge file is not asked about", async () => {
    mkdirSync(join(bench.root, "dir"));
    expect(await bench.failure("Read", { file_path: "dir" })).toMatch(/^not_a_file/);
    expect(bench.editor.asked).toEqual([]);
  });
});

describe("LS, Glob, Grep", () => {
  beforeEach(() => {
    bench.file("src/a.ts", "const Alpha = 1;\nconst beta = 2;\n");
    bench.file("src/deep/b.ts", "// alpha\n");
    bench.file(".env", "alpha=secret\n");
    mkdirSync(join(bench.root, "empty"));
  });

  test.each([
    ["LS", {}, ".env\nempty/\nsrc/"],
    ["LS", { path: "src" }, "a.ts\ndeep/"],
    ["LS", { path: "src", ignore: ["*.ts"] }, "deep/"],
    ["LS", { path: "empty" }, "[empty directory]"],
    ["Glob", { pattern: "**/b.ts" }, "src/deep/b.ts"],
    ["Glob", { pattern: "*.md" }, "[no files found]"],
    ["Grep", { pattern: "Alpha" }, "src/a.ts"],
    ["Grep", { pattern: "alpha", "-i": true, glob: "*.ts", output_mode: "count" }, "src/a.ts:1\nsrc/deep/b.ts:1"],
    ["Grep", { pattern: "beta", output_mode: "content" }, "src/a.ts:2:const beta = 2;"],
    ["Grep", { pattern: "beta", output_mode: "content", "-n": false }, "src/a.ts:const beta = 2;"],
    [
      "Grep",
      { pattern: "beta", output_mode: "content", "-C": 1 },
      "src/a.ts-1-const Alpha = 1;\nsrc/a.ts:2:const beta = 2;",
    ],
    ["Grep", { pattern: "zeta" }, "[no matches]"],
    [
      "Grep",
      { pattern: "const", output_mode: "content", head_limit: 1 },
      "src/a.ts:1:const Alpha = 1;\n[first 1 lines; narrow the search or raise head_limit]",
    ],
  ])("%s %j", async (name, args, want) => {
    expect(await bench.output(name, args)).toBe(want);
  });

  test("a search does not reach what is excluded", async () => {
    using other = new ToolBench({ exclude: ["**/.env"] });
    other.file(".env", "alpha=secret\n");
    other.file("a.txt", "alpha\n");
    expect(await other.output("Grep", { pattern: "alpha", glob: "**" })).toBe("a.txt");
  });

  test.each([
    ["LS", { path: "none" }, /^not_found/],
    ["LS", { path: "src/a.ts" }, /^\w+: /],
    ["Glob", { pattern: "" }, /^bad_arguments: pattern must not be empty/],
    ["Grep", { pattern: "(" }, /^\w+: /],
    ["Grep", { pattern: "a", output_mode: "lines" }, /^bad_arguments/],
  ])("%s %j is refused", async (name, args, want) => {
    expect(await bench.failure(name, args)).toMatch(want);
  });

  test("their effects say what is reached", async () => {
    const effects = async (name: string, args: object) => (await bench.analyse(name, args)).analysis.effects;
    expect(await effects("LS", {})).toMatchObject([{ type: "list", path: { relative: "", inside: true } }]);
    expect(await effects("Glob", { pattern: "*.ts", path: "src" })).toMatchObject([
      { type: "list", path: { relative: "src" }, glob: "*.ts" },
    ]);
    expect(await effects("Grep", { pattern: "a", glob: "*.ts" })).toMatchObject([
      { type: "search", path: { relative: "" }, glob: "*.ts" },
    ]);
  });
});
