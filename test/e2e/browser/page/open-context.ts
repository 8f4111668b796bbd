import type { BrowserContext, BrowserContextOptions } from "playwright-core";
import { chromiumOfFile } from "./chromium.ts";

/** Milliseconds an action or a wait may take. */
const patience = 150_000;

/** A context of its own in the browser of this file: no cookies, no storage, and no animations, which cost much. Disposing closes it. */
export async function openContext(
  options: BrowserContextOptions = {},
): Promise<AsyncDisposable & { readonly context: BrowserContext }> {
  const browser = await chromiumOfFile();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(patience);
  return { context, [Symbol.asyncDispose]: () => context.close() };
}
