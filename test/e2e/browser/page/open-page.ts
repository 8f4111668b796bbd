import type { BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import * as z from "zod";
import type { ServedGennai } from "../../process/serve-gennai.ts";
import { openContext } from "./open-context.ts";
import { ReplDriver } from "./repl-driver.ts";
import { keepScreenshot } from "./screenshot.ts";

export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  readonly repl: ReplDriver;
  /** Errors and warnings of the page. */
  readonly complaints: readonly string[];
}

/** The page of a server, in a context of its own, let in by a fresh link and before the first prompt of a new session. */
export async function openPage(
  gennai: Pick<ServedGennai, "url" | "token">,
  options: BrowserContextOptions = {},
): Promise<OpenedPage> {
  await using parts = new AsyncDisposableStack();
  const { context } = parts.use(await openContext(options));
  const complaints: string[] = [];
  context.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  context.on("weberror", (error) => void complaints.push(error.error().message));
  const page = await context.newPage();
  await page.goto(await pageLink(gennai));
  const repl = new ReplDriver(page);
  await repl.beginSession();
  // How it looked in the end is what one wants to see of a test that failed.
  const test = expect.getState().currentTestName ?? "";
  parts.defer(async () => void (await keepScreenshot(page, `end of ${test}`)));
  const owned = parts.move();
  return { page, repl, complaints, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A link that opens the page once, as `gennai open` makes it. */
export async function pageLink({ url, token }: Pick<ServedGennai, "url" | "token">): Promise<string> {
  const response = await fetch(new URL("/page/code", url), {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: "{}",
  });
  const { code } = z.object({ code: z.string() }).parse(await response.json());
  return `${url}/#${code}`;
}
