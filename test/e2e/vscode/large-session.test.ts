import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { countsRows } from "./repl-sight.ts";
import { useWorkbench } from "./use-workbench.ts";

const turns = 6;
/** As many as an answer may make, and never the same: a model that goes round in circles is stopped. */
const calls = (answer: number) =>
  Array.from({ length: 100 }, (_, index) => ({
    tool: { name: "Read", args: { file_path: "long.txt", offset: answer * 100 + index, limit: 1 } },
  }));

const workbench = useWorkbench(() => ({
  settings: { "gennai.editingMode": "proposal" },
  files: { "long.txt": "a line\n".repeat(1000) },
  gennai: {
    script: [
      { match: "^many", steps: [1, 2, 3, 4].flatMap((answer) => [...calls(answer), { text: [`${answer} of 4.`] }]) },
      { match: "^end", steps: [{ text: ["That was all of it."] }] },
    ],
  },
}));

/** A session with more than ten thousand events, made before anybody looks. Resolves with its newest seq. */
async function makeSession(): Promise<number> {
  const { client } = workbench().gennai;
  const { sessionId } = await client.startSession({ interactive: false });
  const texts = [...Array.from({ length: turns }, (_, index) => `many reads, turn ${index + 1}`), "end"];
  let seq = 0n;
  for (const [index, userInput] of texts.entries()) {
    const { turnId, afterSeq } = await client.startTurn({ sessionId, userInput, clientTurnId: `turn-${index}` });
    for await (const event of client.subscribe({ sessionId, afterSeq, untilTurnId: turnId })) {
      if (event.seq > seq) ({ seq } = event);
    }
  }
  return Number(seq);
}

interface Smoothness {
  /** Between two frames, milliseconds. */
  readonly middle: number;
  readonly ninetyFifth: number;
  readonly longest: number;
  /** Tasks of the page's own thread above 50 ms, by its own observer. */
  readonly longTasks: readonly number[];
}

/** What the page itself measures while something is done to it. */
async function measured(inside: Locator, work: () => Promise<void>): Promise<Smoothness> {
  await inside.evaluate(() => {
    const frames: number[] = [];
    const longTasks: number[] = [];
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longTasks.push(Math.round(duration));
    });
    observer.observe({ entryTypes: ["longtask"] });
    let last = performance.now();
    let going = true;
    const frame = () => {
      const now = performance.now();
      frames.push(now - last);
      last = now;
      if (going) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    Object.assign(globalThis, {
      endOfMeasure: () => {
        going = false;
        observer.disconnect();
        return { frames, longTasks };
      },
    });
  });
  await work();
  const { frames, longTasks } = await inside.evaluate(() =>
    (globalThis as unknown as { endOfMeasure: () => { frames: number[]; longTasks: number[] } }).endOfMeasure(),
  );
  const sorted = frames.toSorted((one, other) => one - other);
  const at = (part: number) => Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? 0);
  return { middle: at(0.5), ninetyFifth: at(0.95), longest: at(1), longTasks };
}

async function wheel(page: Page, feed: Locator, by: number): Promise<void> {
  await feed.hover();
  for (let turn = 0; turn < 60; turn += 1) {
    await page.mouse.wheel(0, by);
    await page.waitForTimeout(30);
  }
}

test("a session of ten thousand events is drawn in part, scrolls and takes what is typed", async () => {
  const events = await makeSession();
  expect(events).toBeGreaterThan(10_000);
  const { page } = workbench();
  await workbench().runCommand("Gennai: Open REPL");
  const began = performance.now();
  const driver = new ReplDriver(await workbench().webview("REPL"));
  await countsRows(driver, "That was all of it.", 1);
  const opened = Math.round(performance.now() - began);
  const feed = driver.root.getByRole("feed");

  const up = await measured(feed, () => wheel(page, feed, -1200));
  expect(await driver.rows.count()).toBeLessThan(200);
  await feed.focus();
  const jumps = await measured(feed, async () => {
    await page.keyboard.press("Home");
    await driver.rows.filter({ hasText: "many reads, turn 1" }).first().waitFor();
    await page.keyboard.press("End");
    await countsRows(driver, "That was all of it.", 1);
  });
  expect(await driver.rows.count()).toBeLessThan(200);

  const text = "what is typed into a long session arrives whole and in order ".repeat(2);
  await driver.prompt.focus();
  const typing = await measured(feed, () => page.keyboard.type(text, { delay: 15 }));
  expect(await driver.prompt.inputValue()).toBe(text);
  // Told, not asserted: they depend on what else the machine does.
  console.log(JSON.stringify({ events, opened, up, jumps, typing }));
});
