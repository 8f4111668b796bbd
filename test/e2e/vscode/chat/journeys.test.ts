import { rm } from "node:fs/promises";
import { type TemporaryRepository, temporaryRepository } from "@gennai/testkit/temporary-repository";
import type { Locator } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { before, keptInPart, shop, shopScript } from "../fixtures/shop.ts";
import { openFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { pictured } from "../workbench/pictured.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

// A folder that is not a repository yet.
const workspace: TemporaryRepository = await temporaryRepository(shop);
await rm(workspace.path(".git"), { recursive: true });
afterAll(() => workspace[Symbol.asyncDispose]());

/** What a person does in the first hour: each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  workspace,
  settings: {
    "editor.minimap.enabled": false,
    "gennai.governance.intents": "off",
    "window.title": "shop",
    "terminal.integrated.gpuAcceleration": "off",
    "workbench.colorTheme": "Light Modern",
  },
  gennai: { script: shopScript },
}));

let repl: ReplDriver;

const lens = (title: string | RegExp): Locator =>
  workbench().page.locator(".editor-instance .codelens-decoration a").filter({ hasText: title });

test("without a repository the first write asks, and makes one with a first commit without what is secret", async () => {
  const { page } = workbench();
  await openFile(page, "basket.js");
  await workbench().runCommand("Gennai: Open REPL in Editor");
  repl = await replInEditor();
  await workbench().runCommand("View: Close Primary Side Bar");
  await repl.send("tidy up the basket, and test it");
  await repl.question.getByText("A yes runs git init").waitFor();
  await pictured(workbench(), "first-commit");
  await repl.question.getByRole("button", { name: "Create branch" }).click();
  await shows(repl, "The total is one line now");
  const committed = (await workspace.git("ls-tree", "-r", "--name-only", "main")).split("\n");
  expect(committed).toEqual(expect.arrayContaining(["package.json", "src/basket.js"]));
  expect(committed).not.toContain(".env");
  expect(await workspace.git("branch", "--show-current")).toBe("ai-agent/tidy-up-the-basket-and-test-it");
});

test("a question is answered by one click, also by somebody who comes from a file", async () => {
  const { page } = workbench();
  await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await pictured(workbench(), "confirm");
  await page.locator(".editor-instance .view-lines").first().click();
  await page.keyboard.press("ArrowDown");
  await repl.answer("yes");
  await shows(repl, "All tests pass.");
  await repl.idle();
  await page.keyboard.press("Control+j");
  await pictured(workbench(), "chat");
});

test("the change card opens the editor's own diff, and leads to Source Control", async () => {
  const { page } = workbench();
  await repl.root.getByRole("button", { name: "Open diff of src/basket.js" }).last().click();
  const diff = page.locator(".monaco-diff-editor").first();
  await diff.locator(".view-line", { hasText: "prices.reduce" }).first().waitFor();
  await diff.locator(".view-line", { hasText: "for (let i" }).first().waitFor();
  await pictured(workbench(), "diff");
  await repl.root.getByRole("button", { name: "Source control" }).last().click();
  await page.locator(".scm-view").getByText("basket.js").first().waitFor();
  await pictured(workbench(), "scm");
  await workbench().runCommand("View: Close Primary Side Bar");
});

test("one click takes it back", async () => {
  await repl.root.getByRole("button", { name: "Undo", exact: true }).last().click();
  await repl.root.getByRole("button", { name: "Yes, undo" }).click();
  await expect.poll(() => workspace.read("src/basket.js"), { timeout: patience }).toBe(before);
  await pictured(workbench(), "undo");
});

test("a question that nobody sees comes as a notification, which leads to it; a key allows it", async () => {
  const { page } = workbench();
  await repl.send("test it again");
  // The conversation is out of sight before the question comes.
  await repl.root.getByRole("button", { name: "Stop" }).waitFor();
  await workbench().runCommand("View: Close Editor");
  await workbench().notice("Gennai asks: Show the question · Run `npm run check`");
  const notification = page.locator(".notification-list-item").filter({ hasText: "Gennai asks" });
  await pictured(workbench(), "notification");
  await notification.getByText("Show the question").click();
  repl = new ReplDriver(await workbench().webview("REPL"));
  await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await notification.waitFor({ state: "detached" });
  await repl.question.getByRole("heading").first().click();
  await page.keyboard.press("Control+Enter");
  await shows(repl, "They pass again.");
  await shows(repl, /allowed/i);
  await repl.idle();
  await workbench().runCommand("View: Close Primary Side Bar");
  await workbench().runCommand("Notifications: Clear All Notifications");
});

test("a proposal is reviewed in its file and in the panel, and kept in part", async () => {
  const { page } = workbench();
  await workbench().runCommand("View: Close All Editors");
  await openFile(page, "basket.js");
  await workbench().runCommand("Gennai: Open REPL in Editor");
  repl = await replInEditor();
  await repl.useEditingMode("proposal");
  await repl.send("propose it again");
  await shows(repl, "Proposed.");
  await repl.idle();
  await repl.openPanel("Review");
  await lens("Proposed change 1 of 2").waitFor();
  await lens(/^Keep$/)
    .first()
    .click();
  await lens(/^Proposed change 1 of 2.*: kept$/).waitFor();
  await repl.root.locator("article.hunk").first().getByText("kept").waitFor();
  await pictured(workbench(), "review");
  await lens(/^Refuse$/)
    .last()
    .click();
  await lens(/^Proposed change 2 of 2.*: refused$/).waitFor();
  await repl.root.getByRole("button", { name: /^Apply 1 hunk/ }).click();
  await repl.root.getByRole("button", { name: "Apply now" }).click();
  await shows(repl, "Applied to 1 file.");
  expect(await workspace.read("src/basket.js")).toBe(keptInPart);
});

test("a plan is written and waits for its approval", async () => {
  await repl.openPanel("Chat");
  // A plan writes, which Proposal Mode does not.
  await repl.useEditingMode("branch");
  await repl.openPanel("Plan");
  const panel = repl.root.getByRole("region", { name: "Plan" });
  await panel.getByRole("textbox", { name: "What is to be planned" }).fill("write down what changed");
  await panel.getByRole("button", { name: "Plan", exact: true }).click();
  await panel.locator(".plan-approval").waitFor();
  await pictured(workbench(), "plan");
});

test("the rules say what they think of a command", async () => {
  await repl.openPanel("Governance");
  const field = repl.root.getByRole("textbox", { name: "Command to try against the rules" });
  await field.fill("git push --force origin main");
  await repl.root.getByRole("button", { name: "Try", exact: true }).click();
  await repl.root.locator(".try-deny").waitFor();
  await field.scrollIntoViewIfNeeded();
  await pictured(workbench(), "governance");
});

test("the timeline is verified, and a checkpoint shows what going back would change", async () => {
  await repl.openPanel("Timeline");
  await repl.root.getByRole("button", { name: "Verify" }).click();
  await repl.root.getByText("Not verified yet.").waitFor({ state: "detached" });
  await pictured(workbench(), "timeline");
  await repl.openPanel("Checkpoints");
  await repl.root
    .locator("#panel")
    .getByText(/Restore to before|No command|Nothing/)
    .first()
    .waitFor();
  await pictured(workbench(), "checkpoints");
});

async function replInEditor(): Promise<ReplDriver> {
  return new ReplDriver(await workbench().webview("Gennai"));
}
