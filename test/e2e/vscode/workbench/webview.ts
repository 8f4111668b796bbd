import { setTimeout as wait } from "node:timers/promises";
import type { FrameLocator, Page } from "playwright-core";
import { patience } from "./patience.ts";

/** The document of a webview: two frames deep, named by the title it has in VS Code. Waits until it is there. */
export async function openWebview(page: Page, title: string): Promise<FrameLocator> {
  const deadline = Date.now() + patience;
  const seen = new Set<string>();
  do {
    for (const name of await page.locator("iframe.webview.ready").evaluateAll(namesOf)) {
      const frame = page.frameLocator(`iframe.webview.ready[name="${name}"]`);
      const found = await frame.locator("iframe#active-frame").evaluateAll(titlesOf);
      for (const one of found) seen.add(one);
      if (found.includes(title)) return frame.frameLocator("iframe#active-frame");
    }
    await wait(100);
  } while (Date.now() < deadline);
  throw new Error(`There is no webview "${title}", but ${JSON.stringify([...seen])}.`);
}

function namesOf(frames: readonly Element[]): string[] {
  return frames.map((frame) => frame.getAttribute("name") ?? "");
}

function titlesOf(frames: readonly Element[]): string[] {
  return frames.map((frame) => frame.getAttribute("title") ?? "");
}
