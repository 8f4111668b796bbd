import { AxeBuilder } from "@axe-core/playwright";
import { expect, test } from "vitest";
import { type OpenedPage, openScriptedPage } from "./open-page.ts";
import { takeScreenshot } from "./screenshot.ts";
import { standards } from "./standards.ts";

const looks = [
  { name: "light", colorScheme: "light" },
  { name: "dark", colorScheme: "dark" },
  { name: "high contrast", colorScheme: "dark", forcedColors: "active" },
  { name: "narrow", colorScheme: "light", viewport: { width: 340, height: 700 } },
] as const;

const panels = ["Chat", "Review", "Plan", "Todos", "Checkpoints", "Timeline", "Governance", "System prompt"];

/** What axe finds, one line a rule. */
async function accessibilityProblems({ page }: OpenedPage): Promise<readonly string[]> {
  const { violations } = await new AxeBuilder({ page }).withTags(standards).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
}

test.for(looks)("the REPL in $name is readable by everybody", async ({ name, ...look }) => {
  await using on = await openScriptedPage(look);
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
