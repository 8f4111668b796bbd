import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { inject } from "vitest";

/** Milliseconds an action or a wait may take. */
const patience = 60_000;

/** A context of its own in the browser of this run: no cookies, no storage. Disposing closes it. */
export async function openContext(
  options: BrowserContextOptions = {},
): Promise<AsyncDisposable & { readonly context: BrowserContext }> {
  const browser: Browser = await chromium.connect(inject("chromium"));
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(patience);
  return {
    context,
    async [Symbol.asyncDispose]() {
      await context.close();
      await browser.close();
    },
  };
}
