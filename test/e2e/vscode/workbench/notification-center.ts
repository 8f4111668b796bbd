import type { Page } from "playwright-core";
import { runCommand } from "./palette.ts";
import { patience } from "./patience.ts";

/** Resolves when a notification says that. They are looked for where all are kept: other words may have followed it. */
export async function waitForNotification(page: Page, text: string | RegExp): Promise<void> {
  const found = page.locator(".notifications-center .notification-list-item").filter({ hasText: text }).first();
  for (const deadline = Date.now() + patience; Date.now() < deadline; ) {
    await runCommand(page, "Notifications: Show Notifications");
    try {
      await found.waitFor({ timeout: 4000 });
      return;
    } catch {
      await page.keyboard.press("Escape");
    }
  }
  throw new Error(`No notification says ${text}.`);
}
