import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { ReplDriver } from "../page/repl-driver.ts";
import { takeScreenshot } from "../page/screenshot.ts";

test("a browser that is remembered opens a bookmark, also after a restart, until it is forgotten", async () => {
  await using gennai = await serveGennai();
  await using on = await openPage(gennai, { viewport: { width: 390, height: 664 } });
  const devices = on.repl.root.getByRole("region", { name: "Remembered browsers" });
  await on.repl.root.getByRole("tab", { name: /^More/ }).click();
  await devices.getByRole("button", { name: "Remember this browser" }).click();
  await devices.getByText("This browser").waitFor();
  await takeScreenshot(on.page, "a remembered browser");
  // Nothing that a script could take away, or another port's server would be sent.
  expect(await on.page.evaluate("document.cookie")).toBe("");

  const bookmarked = await on.page.context().newPage();
  await bookmarked.goto(gennai.url);
  await isIn(bookmarked);
  await gennai.restart();
  await bookmarked.reload();
  await isIn(bookmarked);

  await on.page.reload();
  await devices.getByRole("button", { name: "Forget this browser" }).click();
  await devices.getByRole("button", { name: "Remember this browser" }).or(door(on.page)).waitFor();
  const later = await on.page.context().newPage();
  await later.goto(gennai.url);
  await door(later).waitFor();
  // What it had opened is shut out with it.
  await bookmarked.reload();
  await door(bookmarked).waitFor();
});

const door = (page: Page) => page.getByRole("dialog", { name: "This page needs a link" });

const isIn = (page: Page) => new ReplDriver(page).prompt.waitFor();
