import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { elsewhereScene } from "../../governance/answers/elsewhere-scene.ts";
import { Watcher } from "../../rpc/session-client.ts";
import { openContext } from "../page/open-context.ts";
import { pictured } from "../page/pictured.ts";

const pageDirectory = fileURLToPath(new URL("../../../../dist/page", import.meta.url));

test("on a telephone, a link and a PIN show the whole change, which is read before a yes", async () => {
  await using on = await elsewhereScene({ pageDirectory });
  await using editor = await Watcher.begin(on.server);
  await editor.next("confirmationRequest");
  await using opened = await openContext({ viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true });
  const page = await opened.context.newPage();
  await page.goto(`${on.server.url}/answer#${await on.code()}`);
  await page.getByLabel("Your PIN").fill(on.pin);
  await page.getByRole("button", { name: "Show it" }).click();
  await page.getByRole("heading", { name: /^Gennai asks in/ }).waitFor();
  expect(page.url()).not.toContain("#");
  await page.locator(".confirmation-answer[aria-disabled=false]").first().waitFor();
  await pictured(page, "answer");
  const widest = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(widest).toBeLessThanOrEqual(360);
  await page.locator(".confirmation-answer").first().click();
  await page.getByText("Your yes was taken, for this once.").waitFor();
  expect(await editor.end()).toBe("COMPLETED");
});
