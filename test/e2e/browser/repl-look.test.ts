import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServedGennai, serveGennai } from "../process/serve-gennai.ts";
import { type OpenedPage, openPage } from "./open-page.ts";
import { takeScreenshot } from "./screenshot.ts";
import { scriptedFiles, scriptedWork } from "./scripted-work.ts";

let gennai: ServedGennai;
beforeAll(async () => {
  gennai = await serveGennai({ script: scriptedWork, files: scriptedFiles });
});
afterAll(() => gennai[Symbol.asyncDispose]());

const looks = [
  { name: "light", colorScheme: "light" },
  { name: "dark", colorScheme: "dark" },
  { name: "high contrast", colorScheme: "dark", forcedColors: "active" },
  { name: "narrow", colorScheme: "light", viewport: { width: 340, height: 700 } },
] as const;

const panels = ["Chat", "Review", "Plan", "Todos", "Timeline", "Governance", "System prompt"];

/** WCAG 2.2, A and AA. */
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** What axe finds, one line a rule. */
async function accessibilityProblems({ page }: OpenedPage): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(standards).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

test.for(looks)("the REPL in $name is readable by everybody", async ({ name, ...look }) => {
  await using on = await openPage(gennai, look);
  await takeScreenshot(on.page, `page ${name} welcome`);
  await on.repl.send("explain this project");
  await on.repl.see("What I found");
  await on.repl.idle();
  await takeScreenshot(on.page, `page ${name} answer`);
  await on.repl.send("destroy everything");
  await on.repl.see("That was refused.");
  await on.repl.send("run the formatter");
  await on.repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await takeScreenshot(on.page, `page ${name} question`);
  const problems = [...(await accessibilityProblems(on))];
  await on.repl.answer("Deny");
  await on.repl.see("The formatter has been dealt with.");
  for (const panel of panels) {
    await on.repl.openPanel(panel);
    await takeScreenshot(on.page, `page ${name} ${panel}`);
    problems.push(...(await accessibilityProblems(on)).map((problem) => `${panel}: ${problem}`));
  }
  expect(problems).toEqual([]);
});
