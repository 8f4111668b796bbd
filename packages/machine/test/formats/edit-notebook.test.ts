import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { editNotebook, type NotebookEdit } from "#formats/edit-notebook";
import { cellNames, type Notebook, parseNotebook } from "#formats/notebook";

/** As Jupyter writes it, with what parsing and writing again would change: numbers, escapes, the order of keys. */
const jupyter = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {"1": 1.0, "b": 1e3, "a": "gr\\u00fc\\u00dfe"},
   "source": [
    "# Title\\n",
    "Text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "load",
   "metadata": {},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "[{\\"]}\\n"
     ]
    }
   ],
   "source": [
    "x = 1"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "metadata": {},
   "outputs": [],
   "source": "print(x)"
  }
 ],
 "metadata": {
  "zeta": 1, "alpha": [1,  2]
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

function parsed(text: string): Notebook {
  const result = parseNotebook(text);
  if ("problem" in result) throw new Error(result.problem);
  return result.notebook;
}

const edit = (text: string, change: NotebookEdit) => editNotebook(text, parsed(text), change);
const between = (text: string, from: string, to: string, by: string) => {
  const start = text.indexOf(from);
  return text.slice(0, start) + by + text.slice(text.indexOf(to, start));
};

describe("everything but the cell stays, byte for byte", () => {
  test("a source is replaced, and what it had put out goes with it", () => {
    expect(edit(jupyter, { type: "replace", cell: "load", source: "a = 2\nb\n", cellType: undefined })).toBe(
      jupyter
        .replace('"execution_count": 7', '"execution_count": null')
        .replace(/"outputs": \[\n {4}\{[^]*?\n {3}\]/, '"outputs": []')
        .replace('    "x = 1"\n', '    "a = 2\\n",\n    "b\\n"\n'),
    );
  });

  test("a source that was one string stays one, and an empty one is an empty list", () => {
    expect(edit(jupyter, { type: "replace", cell: "cell-3", source: 'say("hi")\n', cellType: undefined })).toBe(
      jupyter.replace('"print(x)"', '"say(\\"hi\\")\\n"'),
    );
    expect(edit(jupyter, { type: "replace", cell: "intro", source: "", cellType: "markdown" })).toBe(
      between(jupyter, '[\n    "# Title', "\n  },\n  {", "[]"),
    );
  });

  test("a cell is inserted behind another, at the beginning, at the end and into none", () => {
    const code = (id: string) =>
      `{\n   "cell_type": "code",\n   "execution_count": null,\n   "id": "${id}",\n   "metadata": {},\n   "outputs": [],\n   "source": [\n    "y"\n   ]\n  }`;
    const behind = edit(jupyter, { type: "insert", after: "intro", source: "y", cellType: "code" }) ?? "";
    const id = parsed(behind).cells[1]?.id ?? "";
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    const end = jupyter.indexOf('  },\n  {\n   "cell_type": "code",\n   "execution_count": 7') + 3;
    expect(behind).toBe(`${jupyter.slice(0, end)},\n  ${code(id)}${jupyter.slice(end)}`);
    // The same each time: a person says yes to exactly this.
    expect(edit(jupyter, { type: "insert", after: "intro", source: "y", cellType: "code" })).toBe(behind);

    const first = edit(jupyter, { type: "insert", after: undefined, source: "y", cellType: "code" }) ?? "";
    expect(parsed(first).cells.map(({ source }) => source)[0]).toBe("y");
    expect(first.replace(`${code(parsed(first).cells[0]?.id ?? "")},\n  `, "")).toBe(jupyter);
    const last = edit(jupyter, { type: "insert", after: "cell-3", source: "y", cellType: "code" }) ?? "";
    expect(parsed(last).cells.at(-1)?.source).toBe("y");

    const none = '{\n "cells": [],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 4\n}';
    expect(edit(none, { type: "insert", after: undefined, source: "# a", cellType: "markdown" })).toBe(
      none.replace(
        "[]",
        '[\n  {\n   "cell_type": "markdown",\n   "metadata": {},\n   "source": [\n    "# a"\n   ]\n  }\n ]',
      ),
    );
  });

  test("a cell is deleted: the first, one between, the last, the only one", () => {
    for (const cell of ["intro", "load", "cell-3"]) {
      const left = edit(jupyter, { type: "delete", cell }) ?? "";
      expect(parsed(left).cells).toEqual(
        parsed(jupyter).cells.filter((_, index) => cellNames(parsed(jupyter))[index] !== cell),
      );
      expect(left.slice(left.indexOf(' ],\n "metadata"'))).toBe(jupyter.slice(jupyter.indexOf(' ],\n "metadata"')));
    }
    expect(
      edit('{"cells":[{"cell_type":"raw","source":""}],"nbformat":4,"nbformat_minor":4}', {
        type: "delete",
        cell: "cell-1",
      }),
    ).toBe('{"cells":[],"nbformat":4,"nbformat_minor":4}');
  });

  test("another type keeps id and metadata, and has outputs only as code", () => {
    const made = edit(jupyter, { type: "replace", cell: "load", source: "now text", cellType: "markdown" }) ?? "";
    expect(parsed(made).cells[1]).toEqual({ cell_type: "markdown", id: "load", metadata: {}, source: "now text" });
    const back = edit(made, { type: "replace", cell: "load", source: "x", cellType: "code" }) ?? "";
    expect(parsed(back).cells[1]).toMatchObject({ cell_type: "code", execution_count: null, outputs: [] });
  });
});

test.each<[string, NotebookEdit]>([
  ["a name that no cell has", { type: "delete", cell: "nope" }],
  ["a place that is not there", { type: "insert", after: "nope", source: "", cellType: "raw" }],
  ["a number beyond the end", { type: "replace", cell: "cell-9", source: "", cellType: undefined }],
  ["a number of a cell that has an id", { type: "replace", cell: "cell-1", source: "", cellType: undefined }],
])("nothing is edited by %s", (_name, change) => {
  expect(edit(jupyter, change)).toBeUndefined();
});

test("two cells with one id are told apart by number", () => {
  expect(cellNames(parsed(jupyter.replace('"id": "load"', '"id": "intro"')))).toEqual(["cell-1", "cell-2", "cell-3"]);
});

test("a number that is some cell's id names no other cell", () => {
  const cell = (id?: string) => ({ cell_type: "raw", source: "", ...(id === undefined ? {} : { id }) });
  const names = (...ids: readonly (string | undefined)[]) =>
    cellNames(parsed(JSON.stringify({ cells: ids.map(cell), nbformat: 4, nbformat_minor: 5 })));
  expect(names("cell-3", "a", undefined)).toEqual(["cell-3", "a", "cell-3-by-number"]);
  expect(names("cell-2", "cell-2", "cell-2-by-number")).toEqual([
    "cell-1",
    "cell-2-by-number-by-number",
    "cell-2-by-number",
  ]);
  const id = fc.option(fc.constantFrom("", "a", "cell-1", "cell-2", "cell-2-by-number", "cell-3"), { nil: undefined });
  fc.assert(
    fc.property(fc.array(id, { maxLength: 6 }), (ids) => {
      const named = names(...ids);
      expect(new Set(named).size).toBe(ids.length);
      for (const [index, name] of named.entries()) if (name !== ids[index]) expect(ids).not.toContain(name);
    }),
  );
});

test.each([
  ["no JSON", "# %%", /not JSON/],
  ["a list", "[]", /not a notebook/],
  ["nbformat 3", '{"worksheets":[],"nbformat":3,"nbformat_minor":0}', /nbformat/],
  ["a source that is a number", '{"cells":[{"cell_type":"raw","source":3}],"nbformat":4,"nbformat_minor":4}', /source/],
  ["deep nesting", `${"[".repeat(200_000)}`, /not JSON/],
])("%s is not a notebook", (_name, text, problem) => {
  const result = parseNotebook(text);
  expect("problem" in result ? result.problem : "").toMatch(problem);
});

test("whatever the text looks like, one cell changes and the others keep their bytes", () => {
  const cell = fc.record({
    cell_type: fc.constantFrom("code", "markdown", "raw"),
    metadata: fc.jsonValue(),
    source: fc.oneof(fc.string({ unit: "binary" }), fc.array(fc.string())),
    outputs: fc.constant([]),
  });
  const indent = fc.constantFrom(undefined, 1, 2, "\t");
  fc.assert(
    fc.property(
      fc.array(cell, { minLength: 1, maxLength: 5 }),
      indent,
      fc.nat(),
      fc.string({ unit: "binary" }),
      (cells, by, at, source) => {
        const text = JSON.stringify({ nbformat: 4, x: "]}", cells, metadata: {}, nbformat_minor: 4 }, undefined, by);
        const index = at % cells.length;
        const name = `cell-${index + 1}`;
        const before = parsed(text).cells;
        const replaced = edit(text, { type: "replace", cell: name, source, cellType: undefined }) ?? "";
        const expected = before.map((one, place) => (place === index ? { ...one, source } : one));
        expect(parsed(replaced).cells).toEqual(expected);
        // Written in the same way, so nothing but the source is different.
        expect(
          edit(replaced, { type: "replace", cell: name, source: before[index]?.source ?? "", cellType: undefined }),
        ).toBe(edit(text, { type: "replace", cell: name, source: before[index]?.source ?? "", cellType: undefined }));
        const inserted = edit(text, { type: "insert", after: name, source, cellType: "raw" }) ?? "";
        expect(edit(inserted, { type: "delete", cell: `cell-${index + 2}` })).toBe(text);
      },
    ),
  );
});
