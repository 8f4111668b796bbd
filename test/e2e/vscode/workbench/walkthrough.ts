import type { Locator, Page } from "playwright-core";

/** The tab of a walkthrough: VS Code names it after its extension once it was looked at. */
export function walkthroughTab(page: Page): Locator {
  return page.getByRole("tab", { name: /^(Welcome|Walkthrough: Gennai)/ });
}

/** The walkthrough of Gennai, as it is shown: its first step. */
export function walkthrough(page: Page): Locator {
  return page.locator('.getting-started-step[data-step-id*="#gennai.start#"]').first();
}

/** Which steps of the walkthrough that is shown are done, by their ids. */
export async function stepsDone(page: Page): Promise<Readonly<Record<string, boolean>>> {
  const found = await page
    .locator(".getting-started-step")
    .evaluateAll((steps) =>
      steps.map(
        (step) =>
          [
            step.getAttribute("data-step-id")?.split("#").at(-1) ?? "",
            step.getAttribute("aria-checked") === "true",
          ] as const,
      ),
    );
  return Object.fromEntries(found);
}
