import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { serveGennai } from "../../process/serve-gennai.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const questions = [
  {
    header: "Store",
    question: "Where shall the notes be kept? <img src=x onerror=alert(1)>",
    options: [
      { label: "SQLite", description: "One file beside the program" },
      { label: "Postgres", description: "A server that others can reach" },
    ],
  },
  { question: "Which parts need it?", multiple: true, options: [{ label: "api" }, { label: "web" }] },
];

test("the model's question is answered by keyboard, and what is typed meanwhile is told to the model", async () => {
  await using gennai = await serveGennai({
    script: [
      { match: "^build", steps: [call("AskUser", { questions }), { text: ["Thank you."] }] },
      { match: "^and tests", steps: [{ text: ["With tests, then."] }] },
    ],
  });
  await using on = await openPage(gennai);
  const { page, repl } = on;
  await repl.send("build it");
  const card = page.getByRole("region", { name: "The model asks you" });
  await card.waitFor();
  expect(await card.locator("img").count()).toBe(0);
  expect(await page.locator(".confirmation").count()).toBe(0);

  // Said while it waits: queued, and one of them taken back.
  await repl.send("and tests");
  await repl.send("never mind");
  const queued = page.getByRole("region", { name: "With the next step" });
  await queued.getByText("never mind").waitFor();
  await takeScreenshot(page, "the model asks, and two messages wait");
  expect(await accessibilityProblems(repl)).toEqual([]);
  await queued.getByRole("button", { name: "Leave out: never mind" }).click();
  await queued.getByText("never mind").waitFor({ state: "detached" });

  // A page that is loaded again has both.
  await page.reload();
  await card.waitFor();
  await queued.getByText("and tests").waitFor();

  await card.getByRole("radio", { name: /Postgres/ }).focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("Tab");
  await page.keyboard.type("with backups");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await takeScreenshot(page, "an answer to the model is written");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await repl.see("With tests, then.");
  await card.waitFor({ state: "detached" });
  await queued.waitFor({ state: "detached" });
  await repl.idle();
  await takeScreenshot(page, "what was said meanwhile was told");
  expect(on.complaints).toEqual([]);
});
