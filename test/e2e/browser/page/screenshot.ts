import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const standard = fileURLToPath(new URL("../../../../.cache/e2e/", import.meta.url));
/** Directory for the pictures of all tests, if they are wanted: taking them is a third of the time of some tests. */
const wished = process.env["GENNAI_E2E_SCREENSHOTS"];

/** Takes a picture of the page, for people who want pictures of all tests. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  if (wished !== undefined) await keepScreenshot(page, name);
}

/** Takes a picture of the page, as one wants to see it where a test fails. Resolves with its path. */
export async function keepScreenshot(page: Page, name: string): Promise<string> {
  const path = join(wished ?? standard, `${name.replaceAll(/[^\w.-]+/g, "-")}.png`);
  await page.screenshot({ path });
  return path;
}
