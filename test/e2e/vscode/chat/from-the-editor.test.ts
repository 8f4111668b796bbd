import { expect, test } from "vitest";
import { openFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const workbench = useWorkbench(() => ({
  settings: { "gennai.editingMode": "proposal" },
  files: { "broken.json": '{\n  "a": 1,,\n  "b": 2\n}\n' },
  gennai: {
    script: [
      { match: "Fix this problem", steps: [{ text: ["One comma too many."] }] },
      { match: "Why", steps: [{ text: ["Because of the second comma."] }] },
      { match: ".", steps: [{ text: ["Said."] }] },
    ],
  },
}));

test("the light bulb of a problem has Fix with Gennai, which sends file, lines and what is wrong", async () => {
  const { page } = workbench();
  const on = await openRepl(workbench());
  await openFile(page, "broken.json");
  await page.locator(".squiggly-error").first().waitFor({ timeout: patience });
  await page.keyboard.press("F8");
  const fix = page.locator(".action-widget:visible").getByText("Fix with Gennai", { exact: true });
  await expect
    .poll(
      async () => {
        await page.keyboard.press("Control+.");
        return fix.waitFor({ timeout: 3000 }).then(
          () => true,
          () => page.keyboard.press("Escape").then(() => false),
        );
      },
      { timeout: patience },
    )
    .toBe(true);
  await workbench().screenshot("fix with gennai");
  await fix.click();
  await on.see("One comma too many.");
  const asked = await on.rows.filter({ hasText: "Fix this problem in @broken.json:2" }).first().innerText();
  expect(asked).toContain("broken.json:2:");
});

test("what is selected is added to the prompt by its lines, where one types on", async () => {
  const { page } = workbench();
  const on = await openRepl(workbench());
  await on.idle();
  await openFile(page, "broken.json");
  await page.keyboard.press("Shift+ArrowDown");
  await workbench().runCommand("Gennai: Add Selection to Prompt");
  await expect.poll(() => on.prompt.inputValue(), { timeout: patience }).toBe("@broken.json:1 ");
  // What is added is where one types on.
  await expect
    .poll(() => on.prompt.evaluate((box) => box === document.activeElement), { timeout: patience })
    .toBe(true);
  await on.prompt.pressSequentially("Why?");
  await on.prompt.press("Enter");
  await on.see("Because of the second comma.");
  await on.idle();
});

test("a command of the prompt is completed and runs; one that is none is sent as it is; ↑ brings it back", async () => {
  const on = await openRepl(workbench());
  await on.prompt.fill("");
  await on.prompt.pressSequentially("/hel");
  const completions = on.root.getByRole("listbox", { name: "Completions" });
  await completions.getByText("/help", { exact: true }).waitFor();
  await workbench().screenshot("slash commands");
  await on.prompt.press("Tab");
  await on.prompt.press("Enter");
  const note = on.root.locator(".composer-note");
  await note.getByText("/compact").waitFor();
  await workbench().screenshot("slash help");
  await on.send("/branch");
  await note.getByText("Branch Mode from now on.").waitFor();
  await on.send("/proposal");
  await note.getByText("Proposal Mode from now on.").waitFor();
  await on.send("/nothing of that name");
  await on.see("Said.");
  await note.getByText("There is no command /nothing").waitFor();
  await on.idle();
  await on.prompt.press("ArrowUp");
  expect(await on.prompt.inputValue()).toBe("/nothing of that name");
});
