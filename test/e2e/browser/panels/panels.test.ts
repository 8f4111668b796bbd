import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { lookAtBoth } from "../page/look-at.ts";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const script = [
  { match: "^format", steps: [bash("touch formatted.txt"), { text: ["The formatter was asked for."] }] },
  { match: "^destroy", steps: [bash("rm -rf /"), { text: ["That was refused."] }] },
  { match: "^say it", steps: [{ text: ["In short."] }] },
  { match: "^say", steps: [{ text: ["line\n\n".repeat(80), "Said."] }] },
];
const files = {
  ".gennai/rules.yaml":
    "bashToolPatterns:\n  - {pattern: deploy, reason: not from here}\n  - {pattern: touch, reason: look twice, ask: true}\n",
};

test("a question is answered by its key, and its line says what it came to", async () => {
  await using gennai = await serveGennai({ script, files });
  await using on = await openPage(gennai);
  const { page, repl } = on;
  await repl.send("format it");
  await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await expect.poll(() => page.evaluate(() => document.activeElement?.classList.contains("confirmation"))).toBe(true);
  await lookAtBoth(page, "question with its keys");
  await page.keyboard.press("Control+Enter");
  await repl.see("The formatter was asked for.");
  await repl.see("allowed once by you, here");
  expect(await gennai.workspace.read("formatted.txt")).toBe("");

  await repl.send("format it");
  await using other = await openPage(gennai);
  await other.page.getByRole("button", { name: "Sessions", exact: true }).click();
  await other.page.locator(".session-open").first().click();
  await other.repl.question.getByText(/Expires in/).waitFor();
  await lookAtBoth(page, "a question that counts down");
  await repl.question.getByRole("button", { name: "Wait for me" }).click();
  for (const each of [repl, other.repl]) {
    await each.question.getByText(/Expires in/).waitFor({ state: "detached" });
    expect(await each.question.getByRole("button", { name: "Wait for me" }).count()).toBe(0);
  }
  await page.setViewportSize({ width: 175, height: 700 });
  await takeScreenshot(page, "a question that waits 175 px");
  await page.setViewportSize({ width: 1280, height: 800 });
  await repl.question.focus();
  await page.keyboard.press("Control+Backspace");
  await repl.see("denied by you, here");
  await lookAtBoth(page, "questions that were answered");
  expect(on.complaints).toEqual([]);
});

test("the panels say what governs, what happened to which file, and what a prompt said again does", async () => {
  await using gennai = await serveGennai({ script, files });
  await using on = await openPage(gennai);
  const { page, repl } = on;
  await repl.send("destroy everything");
  await repl.see("That was refused.");
  await repl.idle();
  await repl.send("say a lot");
  await repl.see("Said.");
  await repl.idle();

  // One's own prompt is in sight when it is sent, wherever one had scrolled to.
  await repl.root.getByRole("feed").focus();
  await repl.root.getByRole("feed").press("Home");
  await repl.send("say it again");
  await repl.rows.getByText("say it again", { exact: true }).waitFor();
  await repl.idle();

  await repl.openPanel("Governance");
  const governance = page.getByRole("region", { name: "Governance" });
  await governance.getByRole("list", { name: "Rules of your files" }).getByText("deploy").waitFor();
  await governance
    .getByRole("list", { name: "Rules that decided lately" })
    .getByText(/refused 1/)
    .waitFor();
  const command = governance.getByRole("textbox", { name: "Command to try against the rules" });
  for (const [tried, answer] of [
    ["deploy --now", "is refused"],
    ["touch a", "asks you"],
    ["ls", "runs without a question"],
  ] as const) {
    await command.fill(tried);
    await command.press("Enter");
    await governance.locator(".try-answer").getByText(answer, { exact: true }).waitFor();
  }
  await lookAtBoth(page, "rules in force, one tried");

  await repl.openPanel("Timeline");
  await page.getByText("Bash rm -rf /").first().waitFor();
  await lookAtBoth(page, "timeline that names commands");

  await repl.openPanel("Chat");
  const prompt = page.locator(".user-message", { hasText: "say it again" });
  await prompt.getByRole("button", { name: "Edit" }).click();
  await lookAtBoth(page, "a prompt before it is said again");
  await prompt.getByRole("button", { name: "Edit in a copy" }).click();
  await expect.poll(() => repl.prompt.inputValue()).toBe("say it again");
  await repl.see("Said.");
  expect(await repl.rows.getByText("say it again", { exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Sessions" }).click();
  await page
    .getByRole("button", { name: /^Fork of / })
    .first()
    .waitFor();
  expect(on.complaints).toEqual([]);
});
