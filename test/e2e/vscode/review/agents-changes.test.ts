import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { openFile, saveFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const before = "one\ntwo\nthree\nfour\nfive\nsix\n";
const after = before.replace("two", "TWO, of the agent");

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  files: { "a.txt": before },
  gennai: {
    script: [
      {
        match: "^write",
        steps: [
          call("Read", { file_path: "a.txt" }),
          call("Edit", { file_path: "a.txt", old_string: "two", new_string: "TWO, of the agent" }),
          call("Write", { file_path: "new.txt", content: "new\n" }),
          { text: ["Written."] },
        ],
      },
    ],
  },
}));

test("the agent's changes are a group of their own, and exactly they are staged", async () => {
  const { page, workspace } = workbench();
  const repl = await openRepl(workbench());
  await repl.send("write it");
  await repl.question.getByRole("button", { name: "Create branch" }).click();
  await shows(repl, "Written.");
  await openFile(page, "a.txt");
  await page.keyboard.press("Control+End");
  await page.keyboard.type("mine\n");
  await saveFile(page);
  await page
    .getByRole("tab", { name: /^Source Control/ })
    .first()
    .click();
  const group = page.locator(".scm-view").getByText("Agent's Changes", { exact: true });
  await group.waitFor();
  await page.locator(".scm-view").getByText("new.txt").first().waitFor();
  await workbench().screenshot("agents changes");
  await group.hover();
  await page.locator(".scm-view").getByRole("button", { name: "Stage the Agent's Changes" }).first().click();
  await expect
    .poll(() => workspace.git("diff", "--cached", "--stat"), { timeout: patience })
    .toContain("2 files changed");
  expect(await workspace.git("show", ":a.txt")).toBe(after.trimEnd());
  expect(await workspace.read("a.txt")).toBe(`${after}mine\n`);
});

test("they are committed alone, with the message of the box above them", async () => {
  const { page, workspace } = workbench();
  await workspace.write("users.txt", "mine\n");
  await workspace.git("add", "users.txt");
  await page.locator(".scm-view").getByText("a.txt").last().click();
  await page.getByRole("tab", { name: /a\.txt \(the agent's lines\)/ }).waitFor();
  await page.locator(".monaco-diff-editor").getByText("TWO, of the agent").first().waitFor();
  await workbench().screenshot("agents lines");
  await workbench().runCommand("Gennai: Commit the Agent's Changes");
  await page.locator(".quick-input-widget:visible input[type=text]").fill("The agent's part");
  await page.keyboard.press("Enter");
  await expect.poll(() => workspace.git("log", "-1", "--format=%s"), { timeout: patience }).toBe("The agent's part");
  expect(await workspace.git("show", "--stat", "--format=", "--name-only")).toBe("a.txt\nnew.txt");
  expect(await workspace.git("status", "--porcelain")).toBe(" M a.txt\nA  users.txt");
  await workbench().screenshot("agents committed");
});
