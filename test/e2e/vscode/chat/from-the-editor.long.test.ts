import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { patience } from "../workbench/patience.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const workbench = useWorkbench(() => ({
  settings: { "gennai.editingMode": "proposal" },
  files: { "basket.js": "export const basket = [];\n", "with space.md": "# A\n", "src/add.ts": "export {};\n" },
  gennai: { script: [{ match: ".", steps: [{ text: ["Said."] }] }] },
}));

test("files that are dragged from the explorer onto the prompt, with Shift held, are mentioned in it", async () => {
  const { page } = workbench();
  await workbench().runCommand("View: Close All Editors");
  await workbench().runCommand("Gennai: Open REPL in Editor");
  const repl = new ReplDriver(await workbench().webview("Gennai"));
  await repl.prompt.waitFor();
  await workbench().runCommand("View: Show Explorer");
  const row = (name: string) => page.locator(".explorer-folders-view").getByRole("treeitem", { name });
  await repl.prompt.fill("");

  await drag(page, row("basket.js"), repl);
  await expect.poll(() => repl.prompt.inputValue(), { timeout: patience }).toBe("@basket.js ");
  // What is added is where one types on.
  expect(await repl.prompt.evaluate((box) => box === document.activeElement)).toBe(true);

  await drag(page, row("with space.md"), repl);
  await expect.poll(() => repl.prompt.inputValue(), { timeout: patience }).toBe('@basket.js @"with space.md" ');

  // A folder, and several at once: a press with Ctrl opens nothing, so no row moves.
  await repl.prompt.fill("");
  for (const name of ["src", "basket.js"]) await row(name).click({ modifiers: ["Control"] });
  await drag(page, row("basket.js"), repl);
  const both = /^(@basket\.js @src\/?|@src\/? @basket\.js) $/;
  await expect.poll(() => repl.prompt.inputValue(), { timeout: patience }).toMatch(both);
  await repl.prompt.press("Enter");
  await repl.see("Said.");
});

/** As a hand does: VS Code lets a view have what is dragged only while Shift is held. */
async function drag(page: Page, from: Locator, { root, prompt }: ReplDriver): Promise<void> {
  const begin = await middleOf(from);
  const end = await middleOf(prompt);
  await page.mouse.move(begin.x, begin.y);
  await page.mouse.down();
  await page.mouse.move(begin.x + 20, begin.y + 10, { steps: 3 });
  await page.keyboard.down("Shift");
  await page.mouse.move(end.x, end.y - 40, { steps: 5 });
  const isOver = async () => {
    for (const offset of [-2, 2, 0]) await page.mouse.move(end.x + offset, end.y);
    return (await root.locator(".composer-dropping").count()) > 0;
  };
  await expect.poll(isOver, { timeout: patience, interval: 100 }).toBe(true);
  await page.mouse.up();
  await page.keyboard.up("Shift");
}

async function middleOf(target: Locator): Promise<{ readonly x: number; readonly y: number }> {
  const box = await target.boundingBox();
  if (box === null) throw new Error("What is dragged, or its place, is not there.");
  return { x: box.x + Math.min(box.width / 2, 60), y: box.y + box.height / 2 };
}
