import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";

const standard = fileURLToPath(new URL("../../../.cache/e2e/", import.meta.url));

/** Takes a picture of the page, for people. Resolves with its path. */
export async function takeScreenshot(page: Page, name: string): Promise<string> {
  const path = join(process.env["GENNAI_E2E_SCREENSHOTS"] ?? standard, `${name.replaceAll(/[^\w.-]+/g, "-")}.png`);
  await page.screenshot({ path });
  return path;
}
