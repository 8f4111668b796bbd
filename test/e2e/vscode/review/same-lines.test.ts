import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { openFile, saveFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const before = "one\ntwo\nthree\nfour\nfive\nsix\n";
const after = before.replace("one", "ONE, of the agent");

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  files: { "a.txt": before, "b.txt": before },
  settings: { "gennai.editingMode": "proposal" },
  gennai: {
    script: [
      {
        match: "^propose",
        steps: [
          call("Read", { file_path: "a.txt" }),
          call("Read", { file_path: "b.txt" }),
          call("ProposeChanges", {
            changes: ["a.txt", "b.txt"].map((path) => ({ path, operation: "update", new_content: after })),
          }),
          { text: ["Proposed."] },
        ],
      },
    ],
  },
}));

test("what was typed elsewhere is merged, and a change of the same lines opens in the merge editor", async () => {
  const { page, workspace } = workbench();
  const repl = await openRepl(workbench());
  await repl.send("propose a change");
  await shows(repl, "Proposed.");
  await openFile(page, "b.txt");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("mine");
  await openFile(page, "a.txt");
  await page.keyboard.type("MY ");
  await saveFile(page);
  await repl.openPanel("Review");
  await repl.root.getByRole("button", { name: "Keep all" }).click();
  await repl.root.getByRole("button", { name: /^Apply 2 hunks/ }).click();
  await repl.root.getByRole("button", { name: "Apply now" }).click();
  const question = page.locator(".monaco-dialog-box");
  await question.getByText("a.txt: you changed the same lines").waitFor();
  await workbench().screenshot("same lines question");
  await question.getByRole("button", { name: "Apply the Rest" }).click();
  await page.locator(".merge-editor").waitFor();
  expect(await workspace.read("b.txt")).toBe(`${after}mine`);
  expect(await workspace.read("a.txt")).toBe(`MY ${before}`);
  await page.locator(".merge-editor").getByText("ONE, of the agent").first().waitFor();
  await workbench().screenshot("same lines merge editor");
  await shows(repl, "Applied to 1 file.");
});

test("the person takes both in the merge editor, and nothing is written before they save it", async () => {
  const { page, workspace } = workbench();
  await page.locator(".merge-editor").getByText("Accept Combination").first().click();
  const both = `MY ${after}`;
  await page.locator(".merge-editor .result").getByText("MY ONE, of the agent").waitFor();
  expect(await workspace.read("a.txt")).toBe(`MY ${before}`);
  await workbench().screenshot("same lines combined");
  await saveFile(page);
  await expect.poll(() => workspace.read("a.txt"), { timeout: patience }).toBe(both);
});

test("an undo opens what was typed on the same lines since", async () => {
  const { page, workspace } = workbench();
  await openFile(page, "b.txt");
  await page.keyboard.press("End");
  await page.keyboard.type(" and mine");
  await saveFile(page);
  await workbench().runCommand("Gennai: Undo Last Change Set");
  const question = page.locator(".monaco-dialog-box");
  await question.getByText("b.txt: you changed the same lines").waitFor();
  await question.getByRole("button", { name: "Merge by Hand" }).click();
  await page.getByRole("tab", { name: /Merging: b\.txt/ }).waitFor();
  await page.locator(".merge-editor").getByText("Before Gennai").first().waitFor();
  await workbench().screenshot("same lines undone");
  expect(await workspace.read("b.txt")).toContain("of the agent and mine");
});
