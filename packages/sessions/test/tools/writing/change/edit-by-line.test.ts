import { decideCall } from "@gennai/governance/gate/run-calls";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { executionContext } from "@gennai/testkit/execution-context";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { editOfLines } from "#tools/writing/change/edit-by-line";
import { sha256, ToolBench } from "../../tool-bench.ts";

const contentOf = (text: string) => ({ bytes: Buffer.from(text), sha256: sha256(text) });
const edit = (text: string, args: { insert_line: number } | { start_line: number; end_line: number }, put: string) => {
  const { old_string: old, new_string: now } = editOfLines(
    { file_path: "a", new_string: put, ...args },
    contentOf(text),
    "a",
  );
  const plain = text.replaceAll("\r\n", "\n");
  return { old, text: plain.replace(old, () => now), places: plain.split(old).length - 1 };
};

describe("lines by their numbers", () => {
  test.each([
    ["in front of all", "a\nb\n", { insert_line: 0 }, "x", "x\na\nb\n"],
    ["between two", "a\nb\n", { insert_line: 1 }, "x", "a\nx\nb\n"],
    ["whole lines as they are", "a\nb\n", { insert_line: 1 }, "x\ny\n", "a\nx\ny\nb\n"],
    ["behind the last", "a\nb\n", { insert_line: 2 }, "x", "a\nb\nx\n"],
    ["behind a last line without an end", "a\nb", { insert_line: 2 }, "x", "a\nb\nx"],
    ["in place of one", "a\nb\nc\n", { start_line: 2, end_line: 2 }, "x", "a\nx\nc\n"],
    ["in place of several", "a\nb\nc\n", { start_line: 1, end_line: 2 }, "x\ny\nz\n", "x\ny\nz\nc\n"],
    ["nothing in place of one", "a\nb\nc\n", { start_line: 2, end_line: 2 }, "", "a\nc\n"],
    ["an empty line in place of one", "a\nb\nc\n", { start_line: 2, end_line: 2 }, "\n", "a\n\nc\n"],
    ["in place of a last line without an end", "a\nb", { start_line: 2, end_line: 2 }, "x", "a\nx"],
    ["in place of all", "a\nb", { start_line: 1, end_line: 2 }, "x", "x"],
    ["where lines end with CRLF", "a\r\nb\r\n", { insert_line: 1 }, "x\r\n", "a\nx\nb\n"],
    ["characters of patterns", "a\nb\n", { insert_line: 1 }, "$&", "a\n$&\nb\n"],
  ])("%s", (_name, text, args, put, want) => {
    expect(edit(text, args, put)).toMatchObject({ text: want, places: 1 });
  });

  test.each([
    ["a line that stands twice", "a\nb\na\nc\n", { start_line: 3, end_line: 3 }, "a\nb\nx\nc\n"],
    [
      "lines that are all the same",
      "a\n".repeat(9),
      { start_line: 5, end_line: 5 },
      `${"a\n".repeat(4)}x\n${"a\n".repeat(4)}`,
    ],
    ["empty lines", "\n\n\n", { insert_line: 2 }, "\n\nx\n\n"],
    ["a pattern that overlaps itself", "a\nb\na\nb\na\n", { start_line: 3, end_line: 3 }, "a\nb\nx\nb\na\n"],
  ])("%s are told apart by those around them", (_name, text, args, want) => {
    expect(edit(text, args, "x").text).toBe(want);
  });

  test("no more than it needs is around the lines of a long file", () => {
    const text = Array.from({ length: 50_000 }, (_, at) => `line ${at % 100}\n`).join("");
    const { old } = edit(`${text}one\ntwo\nthree\n${text}`, { start_line: 50_002, end_line: 50_002 }, "x");
    expect(old).toBe("two\n");
  });

  test.each([
    ["", { insert_line: 0 }, /is empty/],
    ["a\n", { insert_line: 2 }, /has no line 2, its last is 1/],
    ["a\nb\n", { start_line: 2, end_line: 3 }, /has no line 3/],
    ["\0", { insert_line: 0 }, /not a text file/],
  ])("%j has no place for %j", (text, args, problem) => {
    expect(() => edit(text, args, "x")).toThrow(problem);
  });
});

describe("Edit by lines", () => {
  let bench: ToolBench;
  beforeEach(() => {
    bench = new ToolBench();
  });
  afterEach(() => bench[Symbol.dispose]());

  /** As the gate decides it and then has it run. */
  const call = async (args: Readonly<Record<string, unknown>>, name = "str_replace_editor") => {
    const context = { callId: "c", turnId: "t", signal: new AbortController().signal };
    const decided = await decideCall({ id: "c", name, argumentsJson: JSON.stringify(args) }, context, {
      tools: bench.tools,
      policies: [],
      redactor: await createRedactor({ secrets: [] }),
      sessionId: "s",
      policyTimeoutMs: 1000,
    });
    if (decided.type === "invalid") return { error: decided.error };
    const { args: meant, analysis, asCalled, tool } = decided;
    const outcome = await tool.execute(meant, analysis, executionContext(context));
    for (const file of outcome.observed ?? []) bench.knownFiles.observe(file);
    return { args: meant, asCalled, output: outcome.output };
  };
  const insert = { command: "insert", path: "a.txt", insert_line: 1, insert_text: "new" };

  test.each([
    ["the text editor's insert", insert, "str_replace_based_edit_tool"],
    ["its older words", { ...insert, insert_text: undefined, new_str: "new" }, "str_replace_editor"],
    ["a number as text", { ...insert, insert_line: "1" }, "str_replace_editor"],
    ["Edit itself", { path: "a.txt", insert_line: 1, insert_text: "new" }, "Edit"],
  ])("%s is an Edit of texts to all that look at it", async (_name, args, name) => {
    bench.file("a.txt", "one\ntwo\n");
    await bench.run("Read", { file_path: "a.txt" });
    const { args: meant, asCalled, output } = await call(args, name);
    expect(meant).toEqual({ file_path: "a.txt", old_string: "one\ntwo\n", new_string: "one\nnew\ntwo\n" });
    expect(asCalled).toContain("insert_line");
    expect(output).toBe("Edit a.txt. Changed lines: 2.");
    expect(bench.text("a.txt")).toBe("one\nnew\ntwo\n");
  });

  test("a range, as SWE-agent's edit has it, keeps the file's line ends", async () => {
    bench.file("a.txt", "\uFEFFone\r\ntwo\r\nthree\r\n");
    await bench.run("Read", { file_path: "a.txt" });
    await call({ path: "a.txt", start_line: 2, end_line: "3", replacement_text: "2\n3" }, "edit");
    expect(bench.text("a.txt")).toBe("\uFEFFone\r\n2\r\n3\r\n");
  });

  test.each([
    ["no path, for no file is open", { start_line: 1, end_line: 1, replacement_text: "x" }, /file_path/],
    ["a range that ends before it begins", { path: "a.txt", start_line: 2, end_line: 1, new_string: "x" }, /end_line/],
    ["half a range", { path: "a.txt", start_line: 2, new_string: "x" }, /end_line/],
    ["a text to find as well", { path: "a.txt", insert_line: 1, old_string: "one", new_string: "x" }, /old_string/],
    ["a range as well", { path: "a.txt", insert_line: 1, start_line: 1, end_line: 1, new_string: "x" }, /start_line/],
    ["a line in front of all", { path: "a.txt", insert_line: -1, new_string: "x" }, /insert_line/],
    ["no text", { path: "a.txt", insert_line: 1 }, /new_string/],
    ["two texts", { path: "a.txt", insert_line: 1, new_string: "x", insert_text: "y" }, /insert_text/],
  ])("refuses %s", async (_name, args, problem) => {
    bench.file("a.txt", "one\ntwo\n");
    await bench.run("Read", { file_path: "a.txt" });
    const { error } = await call(args, "Edit");
    expect(error?.code).toBe("bad_arguments");
    expect(error?.message).toMatch(problem);
    expect(bench.text("a.txt")).toBe("one\ntwo\n");
  });

  test("counts on no number that is from before another edit", async () => {
    bench.file("a.txt", "one\ntwo\n");
    await bench.run("Read", { file_path: "a.txt" });
    await call(insert);
    expect((await call({ ...insert, insert_line: 2 })).error).toMatchObject({
      code: "stale_lines",
      hint: expect.stringContaining("Read it"),
    });
    await bench.run("Read", { file_path: "a.txt", offset: 2 });
    expect((await call({ ...insert, insert_line: 2, insert_text: "2" })).error).toBeUndefined();
    expect(bench.text("a.txt")).toBe("one\nnew\n2\ntwo\n");
  });

  test.each([
    ["was never read", async () => {}],
    [
      "somebody else changed since",
      async () => {
        await bench.run("Read", { file_path: "a.txt" });
        bench.file("a.txt", "zero\none\ntwo\n");
      },
    ],
  ])("writes nothing into a file that %s, whatever the rules allow", async (_name, before) => {
    bench.file("a.txt", "one\ntwo\n");
    await before();
    const text = bench.text("a.txt");
    await expect(call(insert)).rejects.toMatchObject({ code: "stale_lines" });
    // Nor does a failure tell how long it is before a rule let it.
    await expect(call({ ...insert, insert_line: 9 })).rejects.toMatchObject({ code: "past_end" });
    expect(bench.text("a.txt")).toBe(text);
  });
});
