import type { Page } from "playwright-core";
import { runCommand } from "./palette.ts";

/** Resolves when a notification says that. They are looked for where all are kept: other words may have followed it. */
export async function waitForNotification(page: Page, text: string | RegExp): Promise<void> {
  const found = page.locator(".notifications-center .notification-list-item").filter({ hasText: text }).first();
  for (let attempt = 1; attempt <= 5; attempt += 1) {
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
