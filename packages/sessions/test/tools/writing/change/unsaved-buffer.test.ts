import { ToolFailure } from "@gennai/governance/tool-error";
import { expect, it } from "vitest";
import { sha256, ToolBench } from "../../tool-bench.ts";

/** A file that is `old` on disk and `new` in an editor that has not saved it, read by the session. */
async function unsaved(abilities = ["file-read", "apply-changes"]): Promise<ToolBench> {
  const bench = new ToolBench();
  for (const ability of abilities) bench.editor.abilities.add(ability);
  bench.file("a.txt", "old\n");
  bench.editor.buffers.set("a.txt", { content: "new text\n", dirty: true });
  await bench.run("Read", { file_path: "a.txt" });
  return bench;
}

const edit = { file_path: "a.txt", old_string: "new text", new_string: "newer text" };

it("is edited through the editor that has it, never on disk", async () => {
  using bench = await unsaved();
  const { analysis, outcome, verification } = await bench.run("Edit", edit);
  expect(analysis.effects).toMatchObject([
    {
      type: "write",
      operation: "update",
      base: { source: "buffer", sha256: sha256("new text\n") },
      current: sha256("new text\n"),
    },
  ]);
  expect(bench.editor.buffers.get("a.txt")?.content).toBe("newer text\n");
  expect(bench.text("a.txt")).toBe("old\n");
  expect(outcome.observed).toEqual([{ path: "a.txt", source: "buffer", sha256: sha256("newer text\n") }]);
  expect(verification?.state).toBe("verified");
});

it("shows a change the user made since as another hash, for the freshness check", async () => {
  using bench = await unsaved();
  bench.editor.buffers.set("a.txt", { content: "new text, typed on\n", dirty: true });
  const { analysis } = await bench.analyse("Edit", edit);
  expect(analysis.effects).toMatchObject([
    { base: { source: "buffer", sha256: sha256("new text\n") }, current: sha256("new text, typed on\n") },
  ]);
});

it("is left alone when the editor cannot apply changes: the bases differ", async () => {
  using bench = await unsaved(["file-read"]);
  const { analysis } = await bench.analyse("Write", { file_path: "a.txt", content: "mine\n" });
  expect(analysis.effects).toMatchObject([{ base: { source: "buffer" }, current: sha256("old\n") }]);
});

it("fails when the editor refuses, and nothing is claimed", async () => {
  using bench = await unsaved();
  const { execute } = await bench.analyse("Edit", edit);
  bench.editor.failure = new ToolFailure("client_error", "The editor answered: version changed");
  await expect(execute()).rejects.toMatchObject({ code: "client_error" });
  expect(bench.text("a.txt")).toBe("old\n");
});

it("fails when the editor wrote something else", async () => {
  using bench = await unsaved();
  bench.editor.misapplies = "formatted\n";
  expect(await bench.failure("Edit", edit)).toMatch(/^applied_differently/);
});

it("is refused when its bytes cannot be told", async () => {
  using bench = await unsaved();
  bench.editor.buffers.set("a.txt", { content: "new text\n", dirty: true, sha256: sha256("in another encoding") });
  expect(await bench.failure("Edit", edit)).toMatch(/^unsupported_encoding/);
});
