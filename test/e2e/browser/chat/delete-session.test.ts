import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { serveGennai } from "../../process/serve-gennai.ts";
import { lookAtBoth } from "../page/look-at.ts";
import { openPage } from "../page/open-page.ts";
import { ReplDriver } from "../page/repl-driver.ts";
import { takeScreenshot } from "../page/screenshot.ts";

const script = [{ match: "", steps: [{ text: ["Said."] }] }];

test("a session is deleted from the list after one question, and a page that has it open says so", async () => {
  await using gennai = await serveGennai({ script });
  await using on = await openPage(gennai);
  const { page, repl } = on;
  await repl.send("keep this one");
  await repl.idle();
  await repl.beginSession();
  await repl.send("remember the mill");
  await repl.see("Said.");
  await repl.idle();
  await using other = await openPage(gennai);
  await openFromList(other.page, "remember the mill");
  await other.repl.see("remember the mill");

  await page.getByRole("button", { name: "Sessions", exact: true }).click();
  await page.getByRole("button", { name: "Delete remember the mill…" }).click();
  const question = page.getByRole("alertdialog", { name: /Delete .remember the mill. for good/ });
  await question.waitFor();
  expect(await question.getByRole("button", { name: "Keep" }).evaluate((keep) => keep === document.activeElement)).toBe(
    true,
  );
  await lookAt(page, "delete a session");
  await question.getByRole("button", { name: "Keep" }).click();
  await page.getByRole("button", { name: "Delete remember the mill…" }).click();
  await question.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "remember the mill" }).first().waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "Search sessions" }).fill("mill");
  await page.getByText("No session has “mill” in its title.").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "What should be done?" }).waitFor();

  await other.page.getByText("This session was deleted.").waitFor();
  await lookAt(other.page, "a session that was deleted elsewhere");
  await other.page.locator(".banner").getByRole("button", { name: "New session" }).click();
  await other.repl.send("and a new one");
  await other.repl.see("Said.");
  await openFromList(page, "keep this one");
  await repl.see("keep this one");
  expect(on.complaints.filter((text) => !text.includes("404"))).toEqual([]);
});

test("a search finds sessions by their titles, opens one, and what it found is deleted from there", async () => {
  await using gennai = await serveGennai({ script });
  await using on = await openPage(gennai);
  const { page, repl } = on;
  for (const prompt of ["Mend the mill", "count the sacks", "paint the mill white"]) {
    await repl.beginSession();
    await repl.send(prompt);
    await repl.see("Said.");
    await repl.idle();
  }
  const search = page.getByRole("searchbox", { name: "Search sessions" });
  const titles = () => page.locator(".session-title").allInnerTexts();
  const openMenu = () => page.getByRole("button", { name: "Sessions", exact: true }).click();
  await openMenu();
  await expect.poll(titles).toEqual(["paint the mill white", "count the sacks", "Mend the mill"]);
  // One types at once, and the case does not matter.
  await page.keyboard.type("MILL");
  await expect.poll(titles).toEqual(["paint the mill white", "Mend the mill"]);
  await lookAt(page, "a search for sessions");
  await page.keyboard.type(" white");
  await expect.poll(titles).toEqual(["paint the mill white"]);
  await search.fill("mend");
  await expect.poll(titles).toEqual(["Mend the mill"]);
  await page.keyboard.press("Enter");
  await page.locator(".popover").waitFor({ state: "detached" });
  await repl.see("Mend the mill");

  await openMenu();
  await search.fill("white");
  await page.locator(".session-open", { hasText: "paint the mill white" }).click();
  await repl.see("paint the mill white");

  await openMenu();
  await search.fill("mill");
  await page.getByRole("button", { name: "Delete Mend the mill…" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect.poll(titles).toEqual(["paint the mill white"]);
  // One goes on searching where one was.
  expect(await search.inputValue()).toBe("mill");
  expect(await search.evaluate((box) => box === document.activeElement)).toBe(true);
  await search.fill("");
  await expect.poll(titles).toEqual(["paint the mill white", "count the sacks"]);
  await page.keyboard.press("Escape");
  await repl.see("paint the mill white");
  expect(on.complaints).toEqual([]);
});

async function openFromList(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Sessions", exact: true }).click();
  await page.locator(".session-open", { hasText: title }).click();
}

/** Takes pictures in light, in dark and at 175 px, and holds all to the standards. */
async function lookAt(page: Page, name: string): Promise<void> {
  await lookAtBoth(page, name);
  const size = page.viewportSize() ?? { width: 1280, height: 720 };
  await page.setViewportSize({ width: 175, height: 620 });
  await takeScreenshot(page, `${name} 175 px`);
  expect(await accessibilityProblems(new ReplDriver(page))).toEqual([]);
  await page.setViewportSize(size);
}
