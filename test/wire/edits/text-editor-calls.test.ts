import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { readLedgerRecords } from "@gennai/store/audit/ledger-records";
import { describe, expect, test } from "vitest";
import { endState, eventsOf, runTurn, startSession } from "../../e2e/rpc/session-client.ts";
import { call, wireWorld } from "../wire-world.ts";

// Shapes of https://docs.claude.com/en/docs/agents-and-tools/tool-use/text-editor-tool, as Claude, OpenHands and SWE-agent send them.

const text = "one\ntwo\nthree\nfour\n";

/** The result of calls of the text editor, one after the other. */
async function edits(
  calls: readonly Readonly<Record<string, unknown>>[],
  { tool = "str_replace_based_edit_tool", rules = "" }: { readonly tool?: string; readonly rules?: string } = {},
) {
  const steps = calls.map((args, at) => ({ calls: [call(`c${at}`, tool, args)] }));
  await using world = await wireWorld("anthropic", [...steps, { text: ["Done."] }], {
    files: { "a.txt": text, ...(rules === "" ? {} : { ".gennai/rules.yaml": rules }) },
  });
  const { server } = world;
  const events = await runTurn(server, await startSession(server), "go");
  expect(endState(events)).toBe("COMPLETED");
  const ledger = readLedgerRecords(server.stateDir, server.workspace.root, 0, 100).map(({ json }) => json);
  const made = server.workspace.path("new.txt");
  return {
    results: eventsOf(events, "toolResult").map(({ error, output }) => error || output),
    errors: eventsOf(events, "toolResult").map(({ error }) => error),
    now: await readFile(server.workspace.path("a.txt"), "utf8"),
    made: existsSync(made) ? await readFile(made, "utf8") : undefined,
    ledger: ledger.filter((record) => record.includes("as_called")),
  };
}

const view = { command: "view", path: "a.txt" };

describe("the text editor of Anthropic's API", () => {
  test.each(["str_replace_based_edit_tool", "str_replace_editor"])(
    "%s looks, replaces and creates as our tools do",
    async (tool) => {
      const { results, now, made, ledger } = await edits(
        [
          { ...view, view_range: [2, 3] },
          { ...view, view_range: [3, -1], old_str: null },
          { command: "str_replace", path: "a.txt", old_str: "two\n", new_str: "2\n" },
          { command: "str_replace", path: "a.txt", old_str: "four\n" },
          { command: "create", path: "new.txt", file_text: "new\n" },
        ],
        { tool },
      );
      expect(results[0]).toMatch(/^ *2\ttwo\n *3\tthree\n/);
      expect(results[0]).not.toContain("one");
      expect(results[1]).toMatch(/^ *3\tthree\n *4\tfour/);
      expect(now).toBe("one\n2\nthree\n");
      expect(made).toBe("new\n");
      // One form for all that looks at it, and beside it the model's own words.
      const records = ledger.join("\n");
      for (const words of ['"tool":"Read"', '"tool":"Edit"', '"tool":"Write"', "old_string", `"as_called"`, tool]) {
        expect(records).toContain(words);
      }
      expect(records).toContain(String.raw`\"command\":\"str_replace\"`);
    },
  );

  test("is under the rules for the tools that it is here", async () => {
    const { errors, now, made } = await edits(
      [
        view,
        { command: "str_replace", path: "a.txt", old_str: "two", new_str: "2" },
        { command: "create", path: "new.txt", file_text: "new\n" },
        { command: "str_replace", path: "../a.txt", old_str: "two", new_str: "2" },
        { command: "create", path: ".git/hooks/pre-commit", file_text: "#!/bin/sh\n" },
      ],
      { rules: "tools: {deny: [Edit, Write]}\n" },
    );
    const refused = expect.stringMatching(/\S/);
    expect(errors).toEqual(["", refused, refused, refused, refused]);
    expect(now).toBe(text);
    expect(made).toBeUndefined();
  });

  test("refuses what is not one clear command, and changes nothing", async () => {
    const unclear: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
      ["inserting by no line", { command: "insert", path: "a.txt", new_str: "x" }],
      ["inserting in front of all", { command: "insert", path: "a.txt", insert_line: -1, new_str: "x" }],
      ["undoing", { command: "undo_edit", path: "a.txt" }],
      ["no command", { path: "a.txt", old_str: "two", new_str: "2" }],
      ["a text to write where something is looked at", { ...view, file_text: "x" }],
      [
        "a text to find where something is created",
        { command: "create", path: "a.txt", file_text: "x", old_str: "two" },
      ],
      ["two paths", { command: "str_replace", path: "b.txt", file_path: "a.txt", old_str: "two", new_str: "2" }],
      ["two paths to look at", { ...view, file_path: "a.txt" }],
      ["two texts to write", { command: "create", path: "a.txt", file_text: "x", content: "y" }],
      ["two texts to find", { command: "str_replace", path: "a.txt", old_str: "one", old_string: "two", new_str: "2" }],
      ["two texts to put in", { command: "str_replace", path: "a.txt", old_str: "two", new_str: "2", new_string: "x" }],
      ["a range that ends before it begins", { ...view, view_range: [3, 2] }],
      ["a range of three", { ...view, view_range: [1, 2, 3] }],
      ["a range and an offset", { ...view, view_range: [1, 2], offset: 2 }],
    ];
    const { results, now } = await edits([view, ...unclear.map(([, args]) => args)]);
    for (const [at, [name]] of unclear.entries()) expect(results[at + 1], name).toMatch(/do not fit|There is no tool/);
    expect(now).toBe(text);
  });

  const insert = { command: "insert", path: "a.txt", insert_line: 1, insert_text: "new" };

  test("inserts by the numbers of lines that it has seen, and is an Edit on record", async () => {
    const { errors, results, now, ledger } = await edits([insert, view, insert, { ...insert, insert_line: 4 }]);
    expect(errors).toEqual([
      expect.stringContaining("has not been read"),
      "",
      "",
      expect.stringContaining("was not read since it changed"),
    ]);
    expect(results[2]).toContain("Changed lines: 2.");
    expect(now).toBe("one\nnew\ntwo\nthree\nfour\n");
    const records = ledger.join("\n");
    expect(records).toContain(String.raw`\"old_string\":\"one\\ntwo\\n\"`);
    expect(records).toContain(String.raw`\"insert_line\":1`);
  });

  test("Read takes view_range by itself, too", async () => {
    const { results } = await edits([{ file_path: "a.txt", view_range: ["2", "2"] }], { tool: "Read" });
    expect(results[0]).toMatch(/^ *2\ttwo/);
    expect(results[0]).not.toContain("three");
  });
});
