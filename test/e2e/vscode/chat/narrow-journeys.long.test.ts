import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterAll, expect, inject, test } from "vitest";
import type { ReplDriver } from "../../browser/page/repl-driver.ts";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { before, keptInPart, shop, shopScript } from "../fixtures/shop.ts";
import { openFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { pictured } from "../workbench/pictured.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { showsTheme, type Theme } from "../workbench/workbench.ts";

const highContrast = { light: "light high contrast", dark: "dark high contrast" } as const satisfies Record<
  string,
  Theme
>;

const workspace: TemporaryRepository = await temporaryRepository(shop);
await workspace.git("checkout", "--quiet", "-b", "ai-agent/basket");
afterAll(() => workspace[Symbol.asyncDispose]());

/** The package in the side bar as VS Code first opens it, in both high contrasts: each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  vsix: process.env["GENNAI_TEST_VSIX"] ?? inject("vsix"),
  workspace,
  settings: {
    "editor.minimap.enabled": false,
    "gennai.governance.intents": "off",
    "window.title": "shop",
    "terminal.integrated.gpuAcceleration": "off",
    "window.autoDetectColorScheme": true,
    "workbench.preferredLightColorTheme": "Default High Contrast Light",
    "workbench.preferredDarkColorTheme": "Default High Contrast",
  },
  gennai: { script: shopScript },
}));

let repl: ReplDriver;

/** Checks the present view in both themes: nothing is cut off, and axe finds nothing. */
async function looked(name: string): Promise<void> {
  const { page } = workbench();
  const found: string[] = [];
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await showsTheme(page, highContrast[scheme]);
    for (const problem of await accessibilityProblems(repl)) found.push(`${highContrast[scheme]}: ${problem}`);
  }
  await pictured(workbench(), `narrow-${name}`, { themes: highContrast });
  expect(found, found.join("\n")).toEqual([]);
}

test("a question is read and answered in 300 pixels", async () => {
  const { page } = workbench();
  await openFile(page, "basket.js");
  repl = await openRepl(workbench());
  const width = await repl.root.locator("html").evaluate((html) => html.clientWidth);
  expect(width).toBeLessThanOrEqual(300);
  await repl.send("tidy up the basket, and test it");
  await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await looked("confirm");
  // What is pressed while a window gets its focus back is not an answer, and a person presses again.
  await expect
    .poll(
      async () => {
        const allow = repl.question.getByRole("button", { name: "Allow once" });
        await allow.click({ timeout: 2000 }).catch(() => undefined);
        return repl.question.count();
      },
      { timeout: patience },
    )
    .toBe(0);
  await shows(repl, "All tests pass.");
  await repl.idle();
  await page.keyboard.press("Control+j");
  await looked("chat");
});

test("what was changed is taken back", async () => {
  await repl.root.getByRole("button", { name: "Undo", exact: true }).last().click();
  const sure = repl.root.getByRole("button", { name: "Yes, undo" });
  if ((await sure.count()) > 0) await sure.click();
  await expect.poll(() => workspace.read("src/basket.js"), { timeout: patience }).toBe(before);
});

test("a proposal is reviewed and kept in part", async () => {
  const panel = await repl.review("propose it again", "Proposed.");
  await panel.getByRole("button", { name: "Keep", exact: true }).first().click();
  await looked("review");
  await repl.root.getByRole("button", { name: /^Apply 1 hunk/ }).click();
  await repl.root.getByRole("button", { name: "Apply now" }).click();
  await shows(repl, "Applied to 1 file.");
  expect(await workspace.read("src/basket.js")).toBe(keptInPart);
});

test("a plan, the rules and the record are read", async () => {
  await repl.openPanel("Chat");
  await repl.useEditingMode("branch");
  await repl.openPanel("Plan");
  const plan = repl.root.getByRole("region", { name: "Plan" });
  await plan.getByRole("textbox", { name: "What is to be planned" }).fill("write down what changed");
  await plan.getByRole("button", { name: "Plan", exact: true }).click();
  await plan.getByRole("button", { name: "Preview" }).click();
  await plan.getByRole("button", { name: "Approve…" }).click();
  await plan.locator(".plan-approval").getByRole("checkbox").first().waitFor();
  await looked("plan");
  await repl.openPanel("Governance");
  await repl.root
    .getByRole("textbox", { name: "Command to try against the rules" })
    .fill("git push --force origin main");
  await repl.root.getByRole("button", { name: "Try", exact: true }).click();
  await repl.root.locator(".try-deny").waitFor();
  await looked("governance");
  await repl.openPanel("Timeline");
  await repl.root.getByRole("button", { name: "Verify" }).click();
  await repl.root.getByText("Not verified yet.").waitFor({ state: "detached" });
  await looked("timeline");
});
