import type { Page } from "playwright-core";
import { expect } from "vitest";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { ReplDriver } from "./repl-driver.ts";
import { takeScreenshot } from "./screenshot.ts";

/** Takes a picture in light and in dark, and holds both to the standards. */
export async function lookAtBoth(page: Page, name: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await takeScreenshot(page, `${name} ${colorScheme}`);
    expect(await accessibilityProblems(new ReplDriver(page))).toEqual([]);
  }
}
