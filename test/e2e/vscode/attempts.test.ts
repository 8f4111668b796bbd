import { expect, test } from "vitest";
import { accessibilityProblems } from "../look/accessibility.ts";
import { openRepl } from "./repl-in-workbench.ts";
import { useWorkbench } from "./use-workbench.ts";

const lines = Array.from({ length: 20 }, (_none, index) => `line ${index + 1}\n`).join("");

/** Each copy lies in a directory with its number. */
const each =
  'case "$PWD" in */1/*) sed -i "s/line 2$/second/; s/line 19/nineteenth/" list.txt;; ' +
  "*/2/*) seq 40 > list.txt;; esac; echo 2 > value.txt";

const workbench = useWorkbench(() => ({
  gennai: {
    args: ["--sandbox", "required", "--stages", "required"],
    script: [
      {
        match: "set the value",
        steps: [{ tool: { name: "Bash", args: { command: each } } }, { text: ["The value is set."] }],
      },
    ],
  },
  files: { "list.txt": lines, "value.txt": "0\n", ".gennai/config.yaml": "check: grep -qx 2 value.txt\n" },
  settings: { "gennai.governance.intents": "off", "gennai.session.editingMode": "proposal" },
}));

test("a prompt is tried twice, an attempt is looked at in the editor's diff, taken, and kept in part", async () => {
  const { page, workspace } = workbench();
  const repl = await openRepl(workbench());
  await repl.useEditingMode("proposal");
  await repl.send("/attempts 2 set the value");
  const panel = repl.root.getByRole("region", { name: "Attempts" });
  await panel.getByRole("listitem", { name: /^Attempt 1: / }).waitFor();
  // Each asks whether the project's check may run after its edits.
  const allow = repl.question.locator('button[aria-disabled="false"]', { hasText: "Allow once" });
  const suggested = panel.getByText("Attempt 1 is suggested");
  const ended = async () => {
    if (await allow.isVisible()) await allow.click();
    return suggested.isVisible();
  };
  await expect.poll(ended, { timeout: 120_000 }).toBe(true);
  await workbench().screenshot("attempts in VS Code");
  expect(await accessibilityProblems(repl)).toEqual([]);
  expect(await workspace.read("value.txt")).toBe("0\n");

  const best = panel.getByRole("listitem", { name: "Attempt 1: Check passed" });
  await best.getByRole("button", { name: "Open diff of list.txt" }).click();
  await page.getByRole("tab", { name: /^list\.txt \(changed by Gennai\)/ }).waitFor();
  await page.locator(".monaco-diff-editor .view-lines").getByText("nineteenth").first().waitFor();
  await workbench().screenshot("an attempt in the editor's own diff");

  await best.getByRole("button", { name: "Take attempt 1" }).click();
  const review = repl.root.locator(".review");
  const hunk = (name: RegExp) => review.getByRole("article", { name });
  await hunk(/^Hunk 1 of 2, list\.txt/)
    .getByRole("button", { name: "Keep", exact: true })
    .click();
  await hunk(/^Hunk 2 of 2, list\.txt/)
    .getByRole("button", { name: "Undo", exact: true })
    .click();
  await review.getByRole("button", { name: "Keep file value.txt" }).click();
  await review.getByRole("button", { name: /^Apply/ }).click();
  await review.getByRole("button", { name: "Apply now" }).click();
  await review.getByText("Applied").first().waitFor();
  expect(await workspace.read("list.txt")).toBe(lines.replace("line 2\n", "second\n"));
  expect(await workspace.read("value.txt")).toBe("2\n");
});
