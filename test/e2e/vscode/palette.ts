import type { Page } from "playwright-core";

const attempts = 15;
/** Milliseconds in which the palette shows what it has. */
const patience = 3000;

/**
 * Runs a command as a user does: by its whole title in the palette, e.g. `Gennai: Open REPL`. Tries again while the workbench is
 * still loading: then keys get lost, and commands are not there yet.
 */
export async function runCommand(page: Page, title: string): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    await page.keyboard.press("F1");
    try {
      await choose(page, { typed: `>${title}`, label: title, timeout: patience });
      // What the command may open takes the place of the palette.
      await page.waitForFunction(showsNoCommands);
      return;
    } catch {
      await page.keyboard.press("Escape");
    }
  }
  throw new Error(`The palette has no command "${title}".`);
}

/** Chooses from a list that is open or about to be, by the whole label. */
export async function pick(page: Page, label: string): Promise<void> {
  await page.locator(".quick-input-widget:visible").waitFor();
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    try {
      await choose(page, { typed: label, label, timeout: patience });
      return;
    } catch {
      // The list was filled after that, and forgot what was typed.
    }
  }
  throw new Error(`The list has no "${label}".`);
}

async function choose(
  page: Page,
  { typed, label, timeout }: { readonly typed: string; readonly label: string; readonly timeout: number },
): Promise<void> {
  const widget = page.locator(".quick-input-widget:visible");
  await widget.locator("input[type=text]").fill(typed, { timeout });
  // A row says more than its label: a key binding, or that it was used lately.
  const row = widget.getByRole("option").filter({ has: page.locator(".label-name").getByText(label, { exact: true }) });
  // Webviews load whenever they like: nobody waits for them.
  await row.first().click({ timeout, noWaitAfter: true });
}

function showsNoCommands(): boolean {
  const input = document.querySelector<HTMLInputElement>(".quick-input-widget input[type=text]");
  return input === null || input.offsetParent === null || !input.value.startsWith(">");
}
