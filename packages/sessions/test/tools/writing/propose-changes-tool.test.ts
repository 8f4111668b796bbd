import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isToolFact } from "#tools/tool-fact";
import { sha256, ToolBench } from "../tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = new ToolBench();
});
afterEach(() => bench[Symbol.dispose]());

async function propose(...changes: readonly object[]) {
  const { outcome, analysis } = await bench.run("ProposeChanges", { changes });
  const fact = outcome.facts?.[0];
  if (!isToolFact(fact) || fact.type !== "proposal") throw new Error("no proposal");
  return { json: JSON.parse(outcome.output), proposal: fact.proposal, analysis };
}

describe("ProposeChanges", () => {
  test("returns the counts of hunks as JSON, records the proposal, and writes nothing", async () => {
    bench.file("src/a.ts", "one\ntwo\n");
    bench.file("old.txt", "gone\n");
    await bench.run("Read", { file_path: "src/a.ts" });
    await bench.run("Read", { file_path: "old.txt" });
    const { json, proposal, analysis } = await propose(
      { path: "./src/a.ts", operation: "update", new_content: "one\nTWO\n" },
      { path: "new/b.ts", operation: "create", new_content: "b\n" },
      { path: "old.txt", operation: "delete" },
    );
    expect(json).toEqual({
      changes: [
        { path: "src/a.ts", operation: "update", hunks: 1, conflict: false },
        { path: "new/b.ts", operation: "create", hunks: 1, conflict: false },
        { path: "old.txt", operation: "delete", hunks: 1, conflict: false },
      ],
      has_conflicts: false,
      warnings: [],
    });
    expect(proposal).toMatchObject({
      toolCallId: "call-1",
      hasConflicts: false,
      changes: [
        {
          id: "c1",
          unifiedDiff: "--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n",
          baseSha256: sha256("one\ntwo\n"),
          baseBlob: { sha256: sha256("one\ntwo\n") },
          newContentBlob: { sha256: sha256("one\nTWO\n") },
          hunks: [
            {
              id: "h1",
              oldRange: { start: 1, count: 2 },
              newRange: { start: 1, count: 2 },
              lines: [" one", "-two", "+TWO"],
            },
          ],
        },
        { id: "c2", baseSha256: "", newContent: "b\n" },
        { id: "c3", baseSha256: sha256("gone\n"), newContent: "" },
      ],
    });
    expect(analysis.effects.map((effect) => effect.type === "propose" && effect.operation)).toEqual([
      "update",
      "create",
      "delete",
    ]);
    expect(readdirSync(bench.root).sort()).toEqual(["old.txt", "src"]);
    expect(bench.text("src/a.ts")).toBe("one\ntwo\n");
  });

  test.each([
    ["create over a file", { path: "f.txt", operation: "create", new_content: "x" }, /exists already/],
    ["update of nothing", { path: "none.txt", operation: "update", new_content: "x" }, /does not exist/],
    ["delete of nothing", { path: "none.txt", operation: "delete" }, /does not exist/],
    ["a binary file", { path: "image.png", operation: "update", new_content: "x" }, /binary/],
    ["a directory", { path: "dir", operation: "update", new_content: "x" }, /./],
    [
      "a file that changed since it was read",
      { path: "read.txt", operation: "update", new_content: "x" },
      /changed since it was read/,
    ],
  ])("conflict: %s", async (_name, change, warning) => {
    bench.file("f.txt", "a\n");
    bench.file("image.png", new Uint8Array([1, 0, 2]));
    mkdirSync(join(bench.root, "dir"));
    bench.file("read.txt", "a\n");
    await bench.run("Read", { file_path: "read.txt" });
    bench.file("read.txt", "b\n");
    const { json, proposal } = await propose(change);
    expect(json).toMatchObject({ has_conflicts: true, changes: [{ conflict: true }] });
    expect(json.changes[0].warning).toMatch(warning);
    expect(proposal.hasConflicts).toBe(true);
  });

  describe("with edits", () => {
    const edits = (...pairs: readonly (readonly [string, string])[]) => ({
      path: "f.txt",
      operation: "update",
      edits: pairs.map(([old_string, new_string]) => ({ old_string, new_string })),
    });

    test("proposes what they make of the file, one after the other", async () => {
      bench.file("f.txt", "a\r\nb\r\nc\r\n");
      await bench.run("Read", { file_path: "f.txt" });
      const { json, proposal, analysis } = await propose(edits(["a\nb", "A\nB"], ["B", "bee"]));
      expect(json.changes).toEqual([{ path: "f.txt", operation: "update", hunks: 1, conflict: false }]);
      expect(proposal.changes[0]).toMatchObject({ newContent: "A\r\nbee\r\nc\r\n", conflict: false });
      expect(analysis.effects).toMatchObject([{ type: "propose", content: "A\r\nbee\r\nc\r\n" }]);
      expect(bench.text("f.txt")).toBe("a\r\nb\r\nc\r\n");
    });

    test("are made on unsaved changes", async () => {
      bench.editor.abilities.add("file-read");
      bench.file("f.txt", "saved\n");
      bench.editor.buffers.set("f.txt", { content: "unsaved\n", dirty: true });
      await bench.run("Read", { file_path: "f.txt" });
      const { proposal } = await propose(edits(["unsaved", "new"]));
      expect(proposal.changes[0]).toMatchObject({ newContent: "new\n", baseSha256: sha256("unsaved\n") });
    });

    test("that fit nearly are given in the file's words, and told", async () => {
      bench.file("f.txt", "\ta\n\tb\n");
      await bench.run("Read", { file_path: "f.txt" });
      const { json, analysis, proposal } = await propose(edits(["a\nb\n", "a\nc\n"]));
      expect(proposal.changes[0]?.newContent).toBe("\ta\n\tc\n");
      expect(analysis.args).toEqual({ changes: [edits(["\ta\n\tb\n", "\ta\n\tc\n"])] });
      expect(json.changes[0].note).toContain("but for indentation");
    });

    test.each([
      ["no match", edits(["x", "y"]), /^no_match/],
      ["no file", { ...edits(["x", "y"]), path: "none.txt" }, /^not_found/],
      ["a path outside", { ...edits(["x", "y"]), path: "../x" }, /^outside_workspace/],
      ["a new file", { ...edits(["x", "y"]), operation: "create" }, /^bad_arguments: .*create needs new_content/],
      ["content beside them", { ...edits(["a", "y"]), new_content: "z" }, /^bad_arguments: edits are for update/],
      ["neither", { path: "f.txt", operation: "update" }, /^bad_arguments: update needs edits/],
    ])("refuses %s", async (_name, change, want) => {
      bench.file("f.txt", "a\n");
      expect(await bench.failure("ProposeChanges", { changes: [change] })).toMatch(want);
    });

    test("of a file that changes meanwhile are stale", async () => {
      bench.file("f.txt", "a\n");
      const { execute } = await bench.analyse("ProposeChanges", { changes: [edits(["a", "b"])] });
      bench.file("f.txt", "a\nmine\n");
      await expect(execute()).rejects.toMatchObject({ code: "stale_file" });
    });
  });

  test("a file that was never read is only warned about", async () => {
    bench.file("f.txt", "a\n");
    const { json } = await propose({ path: "f.txt", operation: "update", new_content: "b\n" });
    expect(json).toMatchObject({
      has_conflicts: false,
      changes: [{ conflict: false, warning: "The file was not read in this session." }],
    });
  });

  test.each([
    ["CRLF", "a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"],
    ["a byte order mark", "\uFEFFa\n", "b\n", "b\n"],
    ["no newline at the end", "a\nb", "a\nc", "a\nc"],
  ])("the file's own form is kept: %s", async (_name, before, content, want) => {
    bench.file("f.txt", before);
    const { proposal } = await propose({ path: "f.txt", operation: "update", new_content: content });
    expect(proposal.changes[0]?.newContent).toBe(want);
    expect(proposal.changes[0]?.newContentBlob?.sha256).toBe(
      sha256(before.startsWith("\uFEFF") ? `\uFEFF${want}` : want),
    );
    expect(proposal.changes[0]?.baseBlob?.sha256).toBe(sha256(before));
    const changed = proposal.changes[0]?.hunks.flatMap(({ lines }) => lines.filter((line) => !line.startsWith(" ")));
    expect(changed).toHaveLength(2);
  });

  test("long content stands in its blob only, and the result has none of it", async () => {
    const content = "x\n".repeat(20_000);
    const { json, proposal } = await propose({ path: "f.txt", operation: "create", new_content: content });
    expect(json.changes).toEqual([{ path: "f.txt", operation: "create", hunks: 1, conflict: false }]);
    expect(proposal.changes[0]).toMatchObject({
      newContent: "",
      newContentBlob: { sha256: sha256(content), size: 40_000 },
    });
  });

  describe("with an editor", () => {
    beforeEach(() => {
      bench.editor.abilities.add("file-read");
      bench.file("f.txt", "saved\n");
    });

    test("unsaved changes are the base", async () => {
      bench.editor.buffers.set("f.txt", { content: "unsaved\n", dirty: true });
      await bench.run("Read", { file_path: "f.txt" });
      const { json, proposal } = await propose({ path: "f.txt", operation: "update", new_content: "new\n" });
      expect(json.changes[0]).toMatchObject({ conflict: false });
      expect(proposal.changes[0]?.unifiedDiff).toContain("-unsaved\n+new\n");
      expect(proposal.changes[0]).toMatchObject({
        baseSha256: sha256("unsaved\n"),
        baseBlob: { sha256: sha256("unsaved\n") },
      });
    });

    test("changes typed after the read are a conflict", async () => {
      bench.editor.buffers.set("f.txt", { content: "saved\n" });
      await bench.run("Read", { file_path: "f.txt" });
      bench.editor.buffers.set("f.txt", { content: "typed\n", dirty: true });
      const { json } = await propose({ path: "f.txt", operation: "update", new_content: "new\n" });
      expect(json.changes[0]).toMatchObject({ conflict: true, warning: "The file changed since it was read." });
    });

    test("an editor that does not answer is warned about", async () => {
      bench.editor.failure = new ToolFailure("client_timeout", "no answer");
      const { json, proposal } = await propose({ path: "f.txt", operation: "update", new_content: "new\n" });
      expect(json.changes[0].warning).toContain("The editor did not answer");
      expect(proposal.changes[0]?.unifiedDiff).toContain("-saved\n+new\n");
    });
  });

  test.each([
    ["twice", "f.txt", "f.txt"],
    ["by another spelling", "f.txt", "./dir/../f.txt"],
    ["by letter case", "f.txt", "F.TXT"],
    ["through a link", "f.txt", "link.txt"],
    ["through a linked directory", "dir/x.txt", "linked/x.txt"],
    ["by Unicode form", "\u00fc.txt", "u\u0308.txt"],
  ])("the same file %s is refused", async (_name, one, other) => {
    bench.file("f.txt", "a\n");
    mkdirSync(join(bench.root, "dir"));
    symlinkSync("f.txt", join(bench.root, "link.txt"));
    symlinkSync("dir", join(bench.root, "linked"));
    const changes = [one, other].map((path) => ({ path, operation: "update", new_content: "x" }));
    expect(await bench.failure("ProposeChanges", { changes })).toMatch(/^duplicate_path: .* name the same file/);
  });

  test.each([
    ["no changes", [], /at least one change/],
    ["no content", [{ path: "a", operation: "create" }], /create needs new_content/],
    ["content of a delete", [{ path: "a", operation: "delete", new_content: "x" }], /delete takes no new_content/],
    ["no path", [{ path: "", operation: "delete" }], /path must not be empty/],
    ["an unknown operation", [{ path: "a", operation: "rename" }], /^bad_arguments/],
    ["an unknown key", [{ path: "a", operation: "delete", force: true }], /force/],
    [
      "501 changes",
      Array.from({ length: 501 }, (_, index) => ({ path: `f${index}`, operation: "delete" })),
      /more than 500/,
    ],
    ["a mask", [{ path: "a", operation: "create", new_content: "k=[REDACTED:x]" }], /^masked_text/],
  ])("refuses %s", async (_name, changes, want) => {
    expect(await bench.failure("ProposeChanges", { changes })).toMatch(want);
  });

  test("once a turn; one that failed does not count", async () => {
    const change = { path: "f.txt", operation: "create", new_content: "x\n" };
    expect(await bench.failure("ProposeChanges", { changes: [{ ...change, new_content: "[REDACTED:x]" }] })).toMatch(
      /^masked_text/,
    );
    const first = await bench.analyse("ProposeChanges", { changes: [change] });
    const second = await bench.analyse("ProposeChanges", { changes: [change] });
    await first.execute();
    await expect(second.execute()).rejects.toMatchObject({ code: "already_proposed" });
    expect(await bench.failure("ProposeChanges", { changes: [change] })).toMatch(
      /^already_proposed: .* \| Summarise .* end the turn/,
    );
    bench.turnId = "turn-2";
    expect(await bench.failure("ProposeChanges", { changes: [change] })).toBe("no failure");
  });

  test("a path outside is left to the policies", async () => {
    const { analysis } = await bench.analyse("ProposeChanges", { changes: [{ path: "../x", operation: "delete" }] });
    expect(analysis.effects).toMatchObject([{ type: "propose", path: { inside: false } }]);
  });
});

describe("TodoRead and TodoWrite", () => {
  test("writes the list, keeps ids and times, and tells the log", async () => {
    const first = await bench.run("TodoWrite", {
      todos: [
        { content: "a", status: "in_progress", priority: "high" },
        { content: "b", status: "pending" },
      ],
    });
    const time = "2026-01-01T00:00:00.000Z";
    const items = [
      { id: "1", content: "a", status: "in_progress", priority: "high", created: time, updated: time },
      { id: "2", content: "b", status: "pending", priority: "medium", created: time, updated: time },
    ];
    // The model has no use for times.
    const shown = items.map(({ id, content, status, priority }) => ({ id, content, status, priority }));
    expect(JSON.parse(first.outcome.output)).toEqual(shown);
    expect(first.outcome.facts).toEqual([{ type: "todos", items }]);
    expect(first.analysis.effects).toEqual([{ type: "session" }]);
    expect(JSON.parse(await bench.output("TodoRead", {}))).toEqual(shown);

    bench.now += 1000;
    const second = await bench.run("TodoWrite", {
      todos: [
        { id: "1", content: "a", status: "completed" },
        { content: "b", status: "pending" },
        { content: "c", status: "pending", priority: "low" },
      ],
    });
    const later = "2026-01-01T00:00:01.000Z";
    const written = [
      { ...items[0], status: "completed", updated: later },
      items[1],
      { id: "3", content: "c", status: "pending", priority: "low", created: later, updated: later },
    ];
    expect(second.outcome.facts).toEqual([{ type: "todos", items: written }]);
  });

  test.each([
    ["a status of its own", [{ content: "a", status: "done" }], /^bad_arguments/],
    ["no content", [{ content: "  ", status: "pending" }], /content must not be empty/],
    [
      "an id twice",
      [
        { id: "1", content: "a", status: "pending" },
        { id: "1", content: "b", status: "pending" },
      ],
      /Every id may stand once/,
    ],
  ])("refuses %s", async (_name, todos, want) => {
    expect(await bench.failure("TodoWrite", { todos })).toMatch(want);
  });
});

test("every tool has a name, a description and a JSON schema for models", async () => {
  const { z } = await import("zod");
  expect([...bench.tools.keys()]).toEqual([
    "Read",
    "LS",
    "Glob",
    "Grep",
    "Write",
    "Edit",
    "MultiEdit",
    "apply_patch",
    "NotebookEdit",
    "Delete",
    "Move",
    "Bash",
    "RunInTerminal",
    "ProposeChanges",
    "TodoRead",
    "TodoWrite",
    "select_active_intent",
    "request_scope_expansion",
    "record_lesson",
  ]);
  for (const tool of bench.tools.values()) {
    expect(tool.description.length).toBeGreaterThan(20);
    expect(z.toJSONSchema(tool.parameters, { io: "input" })).toMatchObject({
      type: "object",
      additionalProperties: false,
    });
  }
});
