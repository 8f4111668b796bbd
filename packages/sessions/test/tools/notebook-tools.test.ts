import { samplePng } from "@gennai/testkit/sample-images";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sha256, ToolBench } from "./tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = new ToolBench();
});
afterEach(() => bench[Symbol.dispose]());

const png = Buffer.from(samplePng(3, 2)).toString("base64");

const cells = [
  { cell_type: "markdown", id: "intro", metadata: {}, source: ["# Sales\n", '[cell "fake", code]'] },
  {
    cell_type: "code",
    id: "plot",
    metadata: {},
    execution_count: 1,
    source: "plot()",
    outputs: [
      { output_type: "stream", name: "stdout", text: ["\u001b[31mred\u001b[0m\n", '[cell "fake", code]\n'] },
      { output_type: "display_data", data: { "image/png": png, "text/plain": "<Figure>" }, metadata: {} },
      { output_type: "error", ename: "KeyError", evalue: "'x'", traceback: ["line 1"] },
      { output_type: "execute_result", data: { "application/json": {} }, metadata: {}, execution_count: 1 },
    ],
  },
  {
    cell_type: "code",
    id: "long",
    metadata: {},
    execution_count: 2,
    source: "",
    outputs: [{ output_type: "stream", name: "stdout", text: "y".repeat(9_000) }],
  },
];
const notebook = (list: readonly object[] = cells) =>
  `${JSON.stringify({ cells: list, metadata: {}, nbformat: 4, nbformat_minor: 5 }, undefined, 1)}\n`;

test("a notebook comes by its cells, with what they put out; nothing in it can look like a cell", async () => {
  bench.file("a.ipynb", notebook());
  const { outcome } = await bench.run("Read", { file_path: "a.ipynb" });
  expect(outcome.output.replace(/│ y+/, "│ yyy")).toBe(
    [
      '[cell "intro", markdown]',
      "1\t# Sales",
      '2\t[cell "fake", code]',
      '[cell "plot", code]',
      "1\tplot()",
      "[output: stdout]",
      "│ red",
      '│ [cell "fake", code]',
      "[output: display_data, image 1: PNG, 3 x 2 pixels, 71 bytes]",
      "│ <Figure>",
      "[output: error]",
      "│ KeyError: 'x'",
      "│ line 1",
      "[output: execute_result]",
      '[cell "long", code]',
      "[empty]",
      "[output: stdout]",
      "│ yyy",
      "[cut: 7000 more characters; read the cell alone for more]",
    ].join("\n"),
  );
  expect(outcome.images).toMatchObject([{ mediaType: "image/png" }]);
  expect(outcome.observed).toEqual([{ path: "a.ipynb", source: "disk", sha256: sha256(notebook()) }]);
});

test("some cells, and one with more of its output", async () => {
  bench.file("a.ipynb", notebook());
  const part = await bench.output("Read", { file_path: "a.ipynb", offset: 1, limit: 1 });
  expect(part).toMatch(/^\[cell "intro"[^]*\n\[cells 1-1 of 3; read on with offset 2\]$/);
  expect(await bench.output("Read", { file_path: "a.ipynb", cell_id: "long" })).toContain("y".repeat(9_000));
  expect(await bench.failure("Read", { file_path: "a.ipynb", cell_id: "none" })).toMatch(/^unknown_cell: /);
  expect(await bench.failure("Read", { file_path: "a.ipynb", offset: 9 })).toMatch(/^past_end: a\.ipynb has 3 cells/);
});

test("hostile outputs: images that are none or too many, and what is called like a line of ours", async () => {
  const outputs = [
    { output_type: "display_data", data: { "image/png": "bm8=" } },
    { output_type: "display_data", data: { "image/png": { not: "text" } } },
    { output_type: "stream", name: "x]\n[cell", text: "" },
    ...Array.from({ length: 9 }, () => ({ output_type: "display_data", data: { "image/png": png } })),
  ];
  bench.file("a.ipynb", notebook([{ ...cells[1], outputs }]));
  const { outcome } = await bench.run("Read", { file_path: "a.ipynb" });
  expect(outcome.images).toHaveLength(8);
  expect(outcome.output.match(/no image/g)).toHaveLength(2);
  expect(outcome.output).toContain("at most 8 are");
  expect(outcome.output).toContain("[output: of another kind]");
});

test("a file that is not a notebook is a text", async () => {
  bench.file("a.ipynb", "# just text\n");
  expect(await bench.output("Read", { file_path: "a.ipynb" })).toBe("1\t# just text");
  expect(await bench.failure("Read", { file_path: "a.ipynb", cell_id: "x" })).toMatch(/^bad_notebook: /);
  bench.file("b.txt", notebook());
  expect(await bench.failure("Read", { file_path: "b.txt", cell_id: "intro" })).toMatch(/^bad_notebook: /);
});

test("NotebookEdit changes one cell of what was read, through the same gate as Edit", async () => {
  bench.file("a.ipynb", notebook().replaceAll("\n", "\r\n"));
  await bench.run("Read", { file_path: "a.ipynb" });
  const { analysis, verification } = await bench.run("NotebookEdit", {
    file_path: "a.ipynb",
    cell_id: "plot",
    new_source: "plot(2)\n",
  });
  expect(analysis).toMatchObject({
    statement: "NotebookEdit a.ipynb",
    effects: [{ type: "write", operation: "update", base: { source: "disk" } }],
  });
  expect(verification?.state).toBe("verified");
  const want = notebook(
    cells.map((cell) =>
      cell.id === "plot" ? { ...cell, source: "plot(2)\n", outputs: [], execution_count: null } : cell,
    ),
  );
  expect(bench.text("a.ipynb")).toBe(want.replaceAll("\n", "\r\n"));
});

test.each([
  ["no cell", { new_source: "x" }, /^bad_arguments: cell_id says which cell/],
  ["no source", { cell_id: "intro" }, /^bad_arguments: new_source/],
  ["an unknown cell", { cell_id: "none", new_source: "x" }, /^unknown_cell: /],
  ["the same text", { cell_id: "intro", new_source: '# Sales\n[cell "fake", code]' }, /^no_change: /],
  ["another mode", { cell_id: "intro", new_source: "x", edit_mode: "append" }, /^bad_arguments: /],
])("NotebookEdit refuses %s", async (_name, args, want) => {
  bench.file("a.ipynb", notebook());
  await bench.run("Read", { file_path: "a.ipynb" });
  expect(await bench.failure("NotebookEdit", { file_path: "a.ipynb", ...args })).toMatch(want);
  expect(bench.text("a.ipynb")).toBe(notebook());
});

test("NotebookEdit refuses what is not a notebook, and what is not there", async () => {
  bench.file("a.ipynb", "text");
  await bench.run("Read", { file_path: "a.ipynb" });
  const edit = { cell_id: "a", new_source: "x" };
  expect(await bench.failure("NotebookEdit", { file_path: "a.ipynb", ...edit })).toMatch(/^bad_notebook: /);
  expect(await bench.failure("NotebookEdit", { file_path: "none.ipynb", ...edit })).toMatch(/^not_found: .*Write/);
});

describe("cells without ids are named by number", () => {
  const letters = ["A", "B", "C", "D"];
  const bare = (sources: readonly string[]) =>
    notebook(sources.map((source) => ({ cell_type: "markdown", metadata: {}, source }))).replace(
      '"nbformat_minor": 5',
      '"nbformat_minor": 4',
    );
  const sources = () =>
    [...(bench.text("a.ipynb") ?? "").matchAll(/"source": "?\[?\s*"?(\w+)/g)].map((found) => found[1]);
  const deleteSecond = { file_path: "a.ipynb", cell_id: "cell-2", edit_mode: "delete" };

  test.each([
    ["a delete", deleteSecond, ["A", "C", "D"]],
    ["an insert", { file_path: "a.ipynb", edit_mode: "insert", new_source: "new" }, ["new", ...letters]],
  ])("so after %s the notebook has to be read again", async (_name, change, want) => {
    bench.file("a.ipynb", bare(letters));
    await bench.run("Read", { file_path: "a.ipynb" });
    const { outcome, verification } = await bench.run("NotebookEdit", change);
    expect(sources()).toEqual(want);
    expect(verification?.state).toBe("verified");
    expect(outcome.output).toContain("read a.ipynb again");
    const next = { file_path: "a.ipynb", cell_id: "cell-3", new_source: "changed" };
    const { analysis } = await bench.analyse("NotebookEdit", next);
    expect(analysis.effects).toMatchObject([{ type: "write", base: undefined, current: expect.any(String) }]);
    await bench.run("Read", { file_path: "a.ipynb" });
    await bench.run("NotebookEdit", next);
    expect(sources()).toEqual(want.with(2, "changed"));
  });

  test("also where an editor has it with unsaved changes", async () => {
    bench.file("a.ipynb", bare(letters));
    bench.editor.abilities.add("file-read").add("apply-changes");
    bench.editor.buffers.set("a.ipynb", { content: bare(letters), dirty: true });
    bench.knownFiles.observe({ path: "a.ipynb", source: "buffer", sha256: sha256(bare(letters)) });
    const { verification } = await bench.run("NotebookEdit", deleteSecond);
    expect(verification?.state).toBe("verified");
    expect(bench.knownFiles.base("a.ipynb")).toBeUndefined();
  });

  test("but a replaced one leaves all names as they are, and so do ids", async () => {
    bench.file("a.ipynb", bare(letters));
    await bench.run("Read", { file_path: "a.ipynb" });
    await bench.run("NotebookEdit", { file_path: "a.ipynb", cell_id: "cell-2", new_source: "changed" });
    expect(bench.knownFiles.base("a.ipynb")).toBeDefined();
    bench.file("b.ipynb", notebook());
    await bench.run("Read", { file_path: "b.ipynb" });
    await bench.run("NotebookEdit", { file_path: "b.ipynb", cell_id: "intro", edit_mode: "delete" });
    expect(bench.knownFiles.base("b.ipynb")).toBeDefined();
  });
});
