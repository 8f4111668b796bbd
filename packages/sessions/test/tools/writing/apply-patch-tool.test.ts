import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isToolFact } from "#tools/tool-fact";
import { sha256, ToolBench } from "../tool-bench.ts";

let bench: ToolBench;
beforeEach(async () => {
  bench = new ToolBench();
  bench.file("a.txt", "one\r\ntwo\r\n");
  bench.file("b.sh", "x\ny\n");
  bench.file("c.txt", "gone\n");
  chmodSync(join(bench.root, "b.sh"), 0o755);
  for (const file_path of ["a.txt", "b.sh", "c.txt"]) await bench.run("Read", { file_path });
});
afterEach(() => bench[Symbol.dispose]());

const files = () => ["a.txt", "b.sh", "moved.sh", "c.txt", "new.txt"].map((path) => bench.text(path));
const patch = (...lines: readonly string[]) => ({ input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
const whole = [
  ...["*** Update File: a.txt", "@@", " one", "-two", "+2", "*** Update File: b.sh", "*** Move to: moved.sh", "@@"],
  ...["-y", "+z", "*** Delete File: c.txt"],
];

describe("apply_patch", () => {
  test("changes all files in one change set, with their line ends and permissions", async () => {
    const { analysis, outcome, verification } = await bench.run(
      "apply_patch",
      patch(...whole, "*** Add File: new.txt", "+new"),
    );
    expect(files()).toEqual(["one\r\n2\r\n", undefined, "x\nz\n", undefined, "new\n"]);
    expect(statSync(join(bench.root, "moved.sh")).mode & 0o777).toBe(0o755);
    expect(
      analysis.effects.map((effect) =>
        effect.type === "write" ? [effect.operation, effect.path.relative, effect.content] : [],
      ),
    ).toEqual([
      ["update", "a.txt", "one\r\n2\r\n"],
      ["create", "moved.sh", "x\nz\n"],
      ["delete", "b.sh", undefined],
      ["delete", "c.txt", undefined],
      ["create", "new.txt", "new\n"],
    ]);
    const sets = (outcome.facts ?? []).filter((fact) => isToolFact(fact) && fact.type === "change-set");
    expect(sets).toHaveLength(1);
    expect(verification?.state).toBe("verified");
  });

  test.each([
    ["text that is not there", ["*** Update File: a.txt", "-three", "+3"], /^no_match: .*a\.txt/],
    [
      "text that stands twice",
      ["*** Add File: d", "+x", "*** Update File: b.sh", "@@", "-z", "+q"],
      /^no_match|^ambiguous/,
    ],
    ["a file that exists", ["*** Add File: a.txt", "+x"], /^already_exists/],
    ["a move onto a file", ["*** Update File: b.sh", "*** Move to: a.txt"], /^already_exists|^duplicate_path/],
    ["no file", ["*** Delete File: none"], /^not_found/],
    ["a path outside", ["*** Add File: ../x", "+x"], /^outside_workspace/],
    ["a move outside", ["*** Update File: b.sh", "*** Move to: ../b.sh"], /^outside_workspace/],
    ["a file twice", ["*** Delete File: a.txt", "*** Delete File: ./a.txt"], /^duplicate_path/],
    ["a mask", ["*** Update File: c.txt", "*** Move to: d.txt", "@@", "-gone", "+k=[REDACTED:x]"], /^masked_text/],
    ["no patch", ["hello"], /^bad_patch/],
  ])("refuses %s, and changes no file", async (_name, lines, want) => {
    const before = files();
    expect(await bench.failure("apply_patch", patch("*** Add File: new.txt", "+new", ...lines))).toMatch(want);
    expect(files()).toEqual(before);
  });

  test("a file that changes meanwhile is stale, and none is changed", async () => {
    const { execute } = await bench.analyse("apply_patch", patch("*** Add File: new.txt", "+new", ...whole));
    bench.file("c.txt", "kept\n");
    await expect(execute()).rejects.toMatchObject({ code: "stale_file" });
    expect(files()).toEqual(["one\r\ntwo\r\n", "x\ny\n", undefined, "kept\n", undefined]);
  });

  test.each([
    ["-KEY=hunter3", []],
    ["-KEY=hunter3", ["*** Move to: shown.txt"]],
  ])("what an unread file holds is not told before the policies have spoken", async (line, move) => {
    bench.file(".env", "KEY=hunter2\n");
    const { analysis, execute } = await bench.analyse(
      "apply_patch",
      patch("*** Update File: .env", ...move, "@@", line, "+x"),
    );
    expect(JSON.stringify(analysis)).not.toContain("hunter2");
    await expect(execute()).rejects.toMatchObject({ code: "no_match" });
  });

  test("moves what is not text", async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]);
    bench.file("logo.png", bytes);
    bench.knownFiles.observe({ path: "logo.png", source: "disk", sha256: sha256(bytes) });
    await bench.run("apply_patch", patch("*** Update File: logo.png", "*** Move to: img/logo.png"));
    expect(bench.text("logo.png")).toBeUndefined();
    expect(readFileSync(join(bench.root, "img/logo.png"))).toEqual(bytes);
  });

  test("says which hunk fits only nearly, also where the file moves", async () => {
    bench.file("t.txt", "\ta\n\tb\n");
    await bench.run("Read", { file_path: "t.txt" });
    const move = patch("*** Update File: t.txt", "*** Move to: u.txt", "@@", " a", "-b", "+c");
    expect(await bench.output("apply_patch", move)).toContain("t.txt: hunk 1 fits but for indentation.");
    expect(bench.text("u.txt")).toBe("\ta\n\tc\n");
  });

  test("says which hunk fits only nearly", async () => {
    bench.file("t.txt", "\ta\n\tb\n");
    await bench.run("Read", { file_path: "t.txt" });
    expect(await bench.output("apply_patch", patch("*** Update File: t.txt", "@@", " a", "-b", "+c"))).toContain(
      "t.txt: hunk 1 fits but for indentation.",
    );
    expect(bench.text("t.txt")).toBe("\ta\n\tc\n");
  });

  test("a file with unsaved changes is left to Edit", async () => {
    bench.editor.abilities.add("file-read");
    bench.editor.buffers.set("a.txt", { content: "mine\n", dirty: true });
    await bench.run("Read", { file_path: "a.txt" });
    expect(await bench.failure("apply_patch", patch(...whole))).toMatch(/^unsaved_changes: /);
  });
});

test("Bash says that apply_patch is a tool", async () => {
  const { input } = patch("*** Delete File: a.txt");
  for (const command of [
    `apply_patch <<'EOF'\n${input}\nEOF`,
    `cd src && applypatch << "X"\n${input}\nX`,
    `apply_patch "${input}"`,
  ]) {
    expect(await bench.failure("Bash", { command })).toMatch(
      /apply_patch is a tool here.* \| Call the tool apply_patch/,
    );
  }
  expect(bench.text("a.txt")).toBe("one\r\ntwo\r\n");
});
