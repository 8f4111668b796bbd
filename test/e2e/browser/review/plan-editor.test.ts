import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { writePlan } from "../../look/write-plan.ts";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

test("a step that needs a confirmation is edited in the plan pane", async () => {
  await using gennai = await serveGennai({
    script: [
      { match: "create add", steps: [{ text: [writePlan("add.ts", "export const one = 1;\n", "one")] }] },
      { match: "", steps: [{ text: ["Good day."] }] },
    ],
  });
  await using on = await openPage(gennai);
  const { page, repl } = on;
  await repl.send("hello");
  await repl.see("Good day.");
  await repl.idle();
  await repl.openPanel("Plan");
  const panel = repl.root.getByRole("region", { name: "Plan" });
  await panel.getByRole("textbox", { name: "What is to be planned" }).fill("create add.ts");
  await panel.getByRole("button", { name: "Plan", exact: true }).click();
  await panel.getByRole("button", { name: "Edit file" }).first().click();
  const editor = panel.getByRole("textbox", { name: "The file of the action" });
  await editor.getByText("export const one = 1;").waitFor();
  await editor.press("Control+Home");
  await page.keyboard.type("// looked at\n");
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await takeScreenshot(page, `plan step in the code editor ${colorScheme}`);
    expect(await accessibilityProblems(repl)).toEqual([]);
  }
  await panel.getByRole("button", { name: "Submit as a new draft" }).click();
  // Another draft, that nobody has approved.
  await panel.getByText("// looked at").first().waitFor();
  await panel.getByRole("button", { name: "Approve and run" }).waitFor();
  await expect(gennai.workspace.read("add.ts")).rejects.toThrow("ENOENT");
  expect(on.complaints).toEqual([]);
});

test("from main, a plan is written, shown with its diff, and run by one approval", async () => {
  await using workspace = await temporaryRepository({ "README.md": "# Test\n" });
  await using gennai = await serveGennai({ workspace });
  await using on = await openPage(gennai);
  const { repl } = on;
  await repl.send("help");
  await repl.idle();
  await repl.openPanel("Plan");
  const panel = repl.root.getByRole("region", { name: "Plan" });
  await panel.getByRole("textbox", { name: "What is to be planned" }).fill("create one.txt with x");
  await panel.getByRole("button", { name: "Plan", exact: true }).click();
  // A plan is bound to its branch.
  await repl.question.getByRole("button", { name: "Create branch" }).waitFor();
  await repl.answer("yes");
  const approval = panel.locator(".plan-approval");
  await approval.waitFor();
  await panel.getByLabel("Difference in one.txt").waitFor();
  for (const box of await approval.getByRole("checkbox").all()) await box.check();
  await takeScreenshot(on.page, "plan approval");
  await expect(workspace.read("one.txt")).rejects.toThrow("ENOENT");
  await approval.getByRole("button", { name: "Approve and run" }).click();
  await panel.locator('[aria-current="step"]').getByText("Done").waitFor();
  await takeScreenshot(on.page, "plan done");
  expect(await workspace.read("one.txt")).toBe("x\n");
  expect(on.complaints).toEqual([]);
});
