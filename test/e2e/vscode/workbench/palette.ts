import type { Page } from "playwright-core";
import { patience } from "./patience.ts";

/** Milliseconds in which the palette shows what it has; then it is opened again. */
const attempt = 3000;
/** Milliseconds in which a chosen command takes the place of the palette. */
const closing = 15_000;

/**
 * Runs a command as a user does: by its whole title in the palette, e.g. `Gennai: Open REPL`. Tries again while a webview is
 * loading: it takes the focus, and with it keys.
 */
export async function runCommand(page: Page, title: string): Promise<void> {
  await persistently(`The palette has no command "${title}".`, async () => {
    await page.keyboard.press("F1");
    try {
      await choose(page, { typed: `>${title}`, label: title });
      // What the command may open takes the place of the palette.
      await page.waitForFunction(showsNoCommands, undefined, { timeout: closing });
    } catch (error) {
      await page.keyboard.press("Escape");
      throw error;
    }
  });
}

/** Chooses from a list that is open or about to be, by the whole label. */
export async function pick(page: Page, label: string): Promise<void> {
  await page.locator(".quick-input-widget:visible").waitFor();
  // A list that is filled late forgets what was typed.
  await persistently(`The list has no "${label}".`, () => choose(page, { typed: label, label }));
}

export async function typeToken(page: Page, token: string): Promise<void> {
  await runCommand(page, "Gennai: Set Server Token…");
  const box = page.locator(".quick-input-widget:visible input[type=password]");
  await box.fill(token);
  await box.press("Enter");
  await box.waitFor({ state: "detached" });
}

async function persistently(failure: string, work: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + patience;
  for (;;) {
    try {
      await work();
      return;
    } catch (cause) {
      if (Date.now() > deadline) throw new Error(failure, { cause });
    }
  }
}

async function choose(page: Page, { typed, label }: { readonly typed: string; readonly label: string }): Promise<void> {
  const widget = page.locator(".quick-input-widget:visible");
  await widget.locator("input[type=text]").fill(typed, { timeout: attempt });
  // A row says more than its label: a key binding, or that it was used lately.
  const row = widget.getByRole("option").filter({ has: page.locator(".label-name").getByText(label, { exact: true }) });
  // Webviews load whenever they like: nobody waits for them.
  await row.first().click({ timeout: attempt, noWaitAfter: true });
}

function showsNoCommands(): boolean {
  const input = document.querySelector<HTMLInputElement>(".quick-input-widget input[type=text]");
  return input === null || input.offsetParent === null || !input.value.startsWith(">");
}
