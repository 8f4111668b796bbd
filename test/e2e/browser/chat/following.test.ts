import { expect, test } from "vitest";
import { type OpenedPage, openPage } from "../page/open-page.ts";
import { scripted } from "../page/scripted-work.ts";
import { useGennai } from "../page/use-gennai.ts";

const gennai = useGennai(scripted);

/** As high as the side bar of an editor is on a small screen. */
const small = { viewport: { width: 340, height: 560 } };

/** Pixels that are hidden below. */
function hiddenBelow({ repl }: OpenedPage): Promise<number> {
  return repl.root
    .getByRole("feed")
    .evaluate(({ scrollHeight, scrollTop, clientHeight }) => Math.round(scrollHeight - scrollTop - clientHeight));
}

test("the conversation stays at its end while it grows, and while questions come and go", async () => {
  await using on = await openPage(gennai(), small);
  for (const prompt of [
    "explain this project",
    "run the formatter",
    "explain it again",
    "run it again",
    "destroy it",
  ]) {
    await on.repl.send(prompt);
    if (prompt.startsWith("run")) {
      await on.repl.question.waitFor();
      await expect.poll(() => hiddenBelow(on), { message: `while "${prompt}" asks` }).toBeLessThan(40);
      await on.repl.answer("no");
    }
    await on.repl.idle();
    await expect.poll(() => hiddenBelow(on), { message: `after "${prompt}"` }).toBeLessThan(40);
  }
});

test("anyone who sends a prompt sees it, also from further up", async () => {
  await using on = await openPage(gennai(), small);
  await on.repl.send("explain this project");
  await on.repl.idle();
  await on.repl.root.getByRole("feed").focus();
  await on.page.keyboard.press("Home");
  await on.repl.send("destroy it");
  await on.repl.see("That was refused.");
});

test("an answer to a question can be seen with the question", async () => {
  await using on = await openPage(gennai(), small);
  await on.repl.send("run the formatter");
  for (const name of ["Run", "Don't run"]) {
    const button = on.repl.question.getByRole("button", { name, exact: true });
    await button.waitFor();
    await expect.poll(() => button.evaluate(isOnScreen)).toBe(true);
  }
  // The next test's turn would wait for this one.
  await on.repl.answer("no");
  await on.repl.idle();
});

test("a click on one answer counts when the focus was on another", async () => {
  await using on = await openPage(gennai());
  await on.repl.send("run the formatter");
  await on.repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await on.repl.yes.focus();
  await on.repl.no.click();
  await on.repl.see("The formatter has been dealt with.");
});

function isOnScreen(element: Element): boolean {
  const { left, top, width, height } = element.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, top + height / 2);
  return there !== null && element.contains(there);
}
