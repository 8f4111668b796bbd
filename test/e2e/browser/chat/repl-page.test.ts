import { expect, test } from "vitest";
import { openPage } from "../page/open-page.ts";
import { scripted } from "../page/scripted-work.ts";
import { useGennai } from "../page/use-gennai.ts";

const gennai = useGennai(scripted);

test("a prompt is worked on and answered before one's eyes", async () => {
  await using on = await openPage(gennai());
  await on.repl.send("explain this project");
  await on.repl.see("What I found");
  await on.repl.idle();
  expect(await on.repl.toolCalls()).toEqual(["LS done", "Read done"]);
  await on.repl.root.getByRole("table").waitFor();
  expect(on.complaints).toEqual([]);
});

test("a reload shows the same conversation, nothing lost and nothing twice", async () => {
  await using on = await openPage(gennai());
  await on.repl.send("explain this project");
  await on.repl.see("What I found");
  await on.repl.idle();
  const before = await on.repl.rows.allInnerTexts();
  await on.page.reload();
  await on.repl.see("What I found");
  await expect.poll(() => on.repl.rows.allInnerTexts()).toEqual(before);
});

test("what the gate asks about runs after a yes, and only then", async () => {
  await using on = await openPage(gennai());
  await on.repl.send("run the formatter");
  await on.repl.question.waitFor();
  expect(await on.repl.question.getByLabel("The exact command").textContent()).toBe(
    "touch formatted.txt && echo formatted",
  );
  await expect(gennai().workspace.read("formatted.txt")).rejects.toThrow("ENOENT");
  await on.repl.answer("yes");
  await on.repl.see("The formatter has been dealt with.");
  expect(await gennai().workspace.read("formatted.txt")).toBe("");
  expect(await on.repl.toolCalls()).toEqual(["Bash done"]);
});

test("a click or a key in the moment in which the question comes is not an answer", async () => {
  await using on = await openPage(gennai());
  await on.page.evaluate(() => {
    const answerAtOnce = new MutationObserver(() => {
      const button = document.querySelector<HTMLElement>(".confirmation-answer");
      if (button === null) return;
      answerAtOnce.disconnect();
      button.focus();
      for (const event of [
        new PointerEvent("pointerdown", { bubbles: true }),
        new MouseEvent("click", { bubbles: true }),
        new KeyboardEvent("keydown", { key: "Enter", bubbles: true }),
        new MouseEvent("click", { bubbles: true }),
      ]) {
        button.dispatchEvent(event);
      }
      button.blur();
    });
    answerAtOnce.observe(document, { childList: true, subtree: true });
  });
  await on.repl.send("run the formatter");
  await on.repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await on.repl.answer("no");
  await on.repl.see("The formatter has been dealt with.");
  expect(await on.repl.toolCalls()).toEqual(["Bash did not run"]);
});

test("what is forbidden does not run, and the REPL says why", async () => {
  await using on = await openPage(gennai());
  await on.repl.send("destroy everything");
  await on.repl.see("That was refused.");
  expect(await on.repl.toolCalls()).toEqual(["Bash did not run"]);
  expect(await on.repl.root.locator(".tool-why").textContent()).not.toBe("");
});

test("Stop stops, and the next prompt works", async () => {
  await using on = await openPage(gennai());
  await on.repl.send("think long about it");
  await on.repl.see("I begin.");
  const began = Date.now();
  await on.repl.root.getByRole("button", { name: "Stop", exact: true }).click();
  await on.repl.idle();
  expect(Date.now() - began).toBeLessThan(5000);
  await on.repl.send("explain this project");
  await on.repl.see("What I found");
});

test("a conversation of twelve hundred tool calls is drawn in part, and scrolls", async () => {
  await using on = await openPage(gennai());
  for (const time of ["first", "second", "third"]) {
    await on.repl.send(`read again, the ${time} time`);
    await on.repl.idle();
  }
  await on.repl.see("4 of 4");
  expect(await on.repl.rows.count()).toBeLessThan(200);
  const feed = on.repl.root.getByRole("feed");
  expect(await feed.evaluate((element) => element.scrollHeight)).toBeGreaterThan(1200 * 20);
  await feed.focus();
  await on.page.keyboard.press("Home");
  await on.repl.see("the first time");
  await expect.poll(() => feed.evaluate((element) => element.scrollTop)).toBe(0);
  await on.page.keyboard.press("End");
  await on.repl.see("4 of 4");
});
