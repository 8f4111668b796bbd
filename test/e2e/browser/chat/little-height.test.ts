import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { sightFiles, sightScript } from "../../look/sight-script.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";
import { useGennai } from "../page/use-gennai.ts";

/** In CSS pixels: at 200 % a window has half of its own. */
const rooms = [
  { name: "520 px high", viewport: { width: 900, height: 520 }, deviceScaleFactor: 1 },
  { name: "400 px high", viewport: { width: 900, height: 400 }, deviceScaleFactor: 1 },
  { name: "400 px high in a side bar", viewport: { width: 300, height: 400 }, deviceScaleFactor: 1 },
  { name: "a window of 1280 by 800 px at 200 %", viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
  { name: "a window of 1280 by 1024 px at 400 %", viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 },
];

const gennai = useGennai({ script: sightScript, files: sightFiles });

test.each(rooms)("a question is read and answered in $name", async ({ name, ...room }) => {
  await using opened = await openPage(gennai(), room);
  const { page, repl } = opened;

  await repl.send("run the formatter");
  await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await repl.question.getByRole("button", { name: "Wait for me" }).click();
  await takeScreenshot(page, `little height, ${name}: the gate asks`);
  await staysInSight(page, repl.question, ["Run", "Don't run"]);
  await isRead(page, repl.question.getByLabel("The exact command"));
  await repl.no.click();
  await repl.question.waitFor({ state: "detached" });
  await repl.idle();

  await repl.send("which store");
  const asked = page.getByRole("region", { name: "The model asks you" });
  await asked.waitFor();
  await takeScreenshot(page, `little height, ${name}: the model asks`);
  await staysInSight(page, asked, ["No answer: decide yourself", "Cancel"]);
  await asked.getByRole("checkbox", { name: "web" }).check();
  await asked.getByRole("button", { name: "Send answer" }).click();
  await asked.waitFor({ state: "detached" });
  await repl.idle();
});

/** The answers can be pressed wherever the page is scrolled to, and nothing that gets the focus is behind them. */
async function staysInSight(page: Page, question: Locator, answers: readonly string[]): Promise<void> {
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    await question.evaluate((card, share) => {
      const app = card.closest(".app");
      const { top, height } = card.getBoundingClientRect();
      const room = card.ownerDocument.defaultView?.innerHeight ?? 0;
      app?.scrollBy({ top: top + Math.max(0, height - room) * share, behavior: "instant" });
    }, part);
    for (const answer of answers) {
      const hit = await isHit(question.getByRole("button", { name: answer, exact: true }));
      expect(hit, `${answer} at ${part}`).toBe(true);
    }
  }
  await question.evaluate((card) => card.closest(".app")?.scrollTo({ top: 0 }));
  await question.focus().catch(() => undefined);
  const covered: string[] = [];
  const focused = page.locator(":focus");
  const count = await question.locator("button, input, summary, pre[tabindex]").count();
  for (let step = 0; step < count; step += 1) {
    await page.keyboard.press("Tab");
    if ((await question.locator(":focus").count()) === 0) break;
    if (!(await isHit(focused))) covered.push(await focused.evaluate((element) => element.outerHTML.slice(0, 80)));
  }
  expect(covered).toEqual([]);
}

/** Nothing lies above its middle. */
async function isHit(target: Locator): Promise<boolean> {
  return target.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    const hit = element.ownerDocument.elementFromPoint(left + width / 2, top + Math.min(height / 2, 10));
    return hit !== null && element.contains(hit);
  });
}

async function isRead(page: Page, text: Locator): Promise<void> {
  await text.scrollIntoViewIfNeeded();
  await page.waitForTimeout(50);
  expect(await isHit(text)).toBe(true);
}
