import { call } from "@gennai/testkit/scripted-steps";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { tell } from "../fixtures/figures.ts";
import { countsRows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const turns = 6;
/** As many as an answer may make, and never the same: a model that goes round in circles is stopped. */
const calls = (answer: number) =>
  Array.from({ length: 100 }, (_, index) =>
    call("Read", { file_path: "long.txt", offset: answer * 100 + index, limit: 1 }),
  );

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

/** A session with more than ten thousand events, created before it is shown. Resolves with its newest seq. */
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
  return { middle: at(frames, 0.5), ninetyFifth: at(frames, 0.95), longest: at(frames, 1), longTasks };
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
  const driver = new ReplDriver(await workbench().webview("REPL"));
  await countsRows(driver, "That was all of it.", 1);
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
  const typing = await typed(page, driver.prompt, text);
  expect(await driver.prompt.inputValue()).toBe(text);
  const bare = await typed(page, await bareBox(driver), text);
  const beside = `a key typed beside ${events} events`;
  tell(
    {
      name: `${beside}, p95 (floor: a text box of no app in the same document)`,
      unit: "ms",
      floor: at(bare.times, 0.95),
      figure: at(typing.times, 0.95),
      target: { type: "most", value: 16 },
    },
    {
      name: "the same, processor time of the window's thread",
      unit: "ms",
      floor: bare.processorTime,
      figure: typing.processorTime,
      target: { type: "none" },
    },
  );
  console.log(JSON.stringify({ events, up, jumps }));
  await driver.prompt.fill("");

  const began = performance.now();
  await workbench().reload();
  const drawn = performance.now() - began;
  const again = new ReplDriver(await workbench().webview("REPL"));
  await countsRows(again, "That was all of it.", 1);
  const shown = performance.now() - began;
  const long = await ageOf(again);
  await again.beginSession();
  await again.send("end");
  await again.idle();
  await workbench().reload();
  const short = new ReplDriver(await workbench().webview("REPL"));
  await countsRows(short, "That was all of it.", 1);
  tell(
    {
      name: `a window with a session of ${events} events reloaded (floor: its workbench alone)`,
      unit: "s",
      floor: drawn / 1000,
      figure: shown / 1000,
      target: { type: "none" },
    },
    {
      name: "the same, from the REPL's first script to its last line (floor: a session of one turn)",
      unit: "s",
      floor: (await ageOf(short)) / 1000,
      figure: long / 1000,
      target: { type: "most", value: 1.5 },
    },
  );
});

/** Milliseconds since a REPL's document began. */
async function ageOf({ root }: ReplDriver): Promise<number> {
  return root.locator("body").evaluate(() => performance.now());
}

/** A text box in the REPL's document that nothing listens to. */
async function bareBox({ root }: ReplDriver): Promise<Locator> {
  await root.locator("body").evaluate((body) => {
    const box = body.ownerDocument.createElement("textarea");
    box.id = "bare";
    box.setAttribute("style", "position: fixed; inset: 0 auto auto 0");
    body.append(box);
  });
  return root.locator("#bare");
}

/**
 * Types, and gives what each key took: `times` from the key's own time until all that it brought about was done, and the mean
 * `processorTime` of the thread on which all documents of the window run. Milliseconds.
 */
async function typed(
  page: Page,
  box: Locator,
  text: string,
): Promise<{ readonly times: readonly number[]; readonly processorTime: number }> {
  await box.evaluate((element) => {
    const times: number[] = [];
    Object.assign(globalThis, { keyTimes: times });
    element.addEventListener(
      "keydown",
      ({ timeStamp }) => setTimeout(() => times.push(performance.now() - timeStamp)),
      { capture: true },
    );
  });
  await box.focus();
  const devTools = await page.context().newCDPSession(page);
  await devTools.send("Performance.enable", { timeDomain: "threadTicks" });
  const processorTime = async (): Promise<number> => {
    const { metrics } = await devTools.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN) * 1000;
  };
  const before = await processorTime();
  await page.keyboard.type(text, { delay: 15 });
  const after = await processorTime();
  await devTools.detach();
  const times = await box.evaluate(() => (globalThis as unknown as { keyTimes: number[] }).keyTimes);
  return { times, processorTime: (after - before) / text.length };
}

function at(values: readonly number[], part: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * part)] ?? Number.NaN;
}
