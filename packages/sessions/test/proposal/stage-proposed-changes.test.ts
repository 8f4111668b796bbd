import { executionContext } from "@gennai/testkit/execution-context";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stageProposedChanges } from "#proposal/stage-proposed-changes";
import type { ProposeArguments } from "#tools/writing/propose-changes-tool";
import { ToolBench } from "../tools/tool-bench.ts";

let bench: ToolBench;
beforeEach(() => {
  bench = new ToolBench();
});
afterEach(() => bench[Symbol.dispose]());

function staged(changes: ProposeArguments["changes"]) {
  const tool = stageProposedChanges(bench);
  const context = { callId: "c", turnId: "t", signal: new AbortController().signal };
  return {
    analysis: () => tool.analyse({ changes }, context),
    run: async () => tool.execute({ changes }, await tool.analyse({ changes }, context), executionContext(context)),
  };
}

function edit(path: string, old_string: string, new_string: string): ProposeArguments["changes"][number] {
  return { path, operation: "update", edits: [{ old_string, new_string }] };
}

test("stages edits beside whole files, all or none", async () => {
  bench.file("a.txt", "one\ntwo\n");
  bench.file("b.txt", "\tx\n\ty\n");
  for (const file_path of ["a.txt", "b.txt"]) await bench.run("Read", { file_path });
  const create = { path: "c.txt", operation: "create", new_content: "new\n" } as const;
  await expect(staged([create, edit("a.txt", "two", "2"), edit("b.txt", "z", "Z")]).run()).rejects.toMatchObject({
    code: "no_match",
  });
  expect([bench.text("a.txt"), bench.text("c.txt")]).toEqual(["one\ntwo\n", undefined]);

  const nearly = staged([create, edit("a.txt", "two", "2"), edit("b.txt", "x\ny\n", "x\nz\n")]);
  const { args } = await nearly.analysis();
  expect(args).toEqual({ changes: [create, edit("a.txt", "two", "2"), edit("b.txt", "\tx\n\ty\n", "\tx\n\tz\n")] });
  const { output } = await nearly.run();
  expect(output).toContain("old_string fits lines 1-2 but for indentation");
  expect(["a.txt", "b.txt", "c.txt"].map((path) => bench.text(path))).toEqual(["one\n2\n", "\tx\n\tz\n", "new\n"]);
});

test("what an unread file holds is not told before the policies have spoken", async () => {
  bench.file(".env", "KEY=hunter2\n");
  const { analysis, run } = staged([edit(".env", "KEY=hunter3", "x")]);
  expect(await analysis()).toMatchObject({ effects: [{ type: "write", operation: "update", base: undefined }] });
  await expect(run()).rejects.toMatchObject({ code: "no_match" });
});
