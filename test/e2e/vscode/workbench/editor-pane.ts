import type { Page } from "playwright-core";
import { patience } from "./patience.ts";

/** Opens a file of the workspace by its name and puts the cursor at its beginning. */
export async function openFile(page: Page, name: string): Promise<void> {
  const widget = page.locator(".quick-input-widget:visible");
  const editor = page.locator(".editor-group-container.active .monaco-editor").first();
  const deadline = Date.now() + patience;
  // On a machine that does much else each step takes as long as it takes: later tries wait longer.
  for (let wait = 2000; Date.now() < deadline; wait *= 1.5) {
    await page.keyboard.press("F1");
    try {
      await widget.locator("input[type=text]").fill(name, { timeout: wait });
      const row = widget
        .getByRole("option")
        .filter({ has: page.locator(".label-name").getByText(name, { exact: true }) });
      await row.first().click({ timeout: wait, noWaitAfter: true });
      await page.getByRole("tab", { name, exact: false }).first().waitFor({ timeout: wait });
      await editor.click({ timeout: wait });
      await page.keyboard.press("Control+Home");
      return;
    } catch {
      await page.keyboard.press("Escape");
    }
  }
  throw new Error(`${name} could not be opened.`);
}

/** Saves the file whose editor has the focus, and waits until it is saved: what is clicked before meets unsaved changes. */
export async function saveFile(page: Page): Promise<void> {
  await page.keyboard.press("Control+s");
  await page.locator(".editor-group-container.active .tab.active:not(.dirty)").waitFor();
}
