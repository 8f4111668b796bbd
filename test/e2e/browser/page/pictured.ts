import { join } from "node:path";
import type { Page } from "playwright-core";
import { takeScreenshot } from "./screenshot.ts";

/** Where `npm run pictures` wants the documentation's pictures. */
const directory = process.env["GENNAI_PICTURES"];

/** Makes the pictures of the documentation, `repl-NAME-light.png` and `repl-NAME-dark.png`, if requested; otherwise both for the test. */
export async function pictured(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    if (directory === undefined) await takeScreenshot(page, `${name} ${colorScheme}`);
    else await page.screenshot({ path: join(directory, `repl-${name}-${colorScheme}.png`), animations: "disabled" });
  }
}
