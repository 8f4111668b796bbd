import { expect, test } from "vitest";
import { openScriptedPage } from "../page/open-page.ts";

test("decisions of a review, and a session's new name, survive a reload", async () => {
  await using on = await openScriptedPage();
  const { root } = on.repl;
  const review = await on.repl.review("propose it", "Proposed.");
  await review.getByRole("button", { name: "Keep all", exact: true }).click();
  await review.getByLabel("Note to the model").fill("Well done");
  const decided = review.getByText("2 kept");
  await decided.waitFor();

  await root.getByRole("button", { name: "Sessions" }).click();
  await root.getByRole("button", { name: "Rename propose it" }).click();
  await root.getByLabel("Title").fill("Arrow functions");
  await on.page.keyboard.press("Enter");
  await root.getByRole("button", { name: "Rename Arrow functions" }).waitFor();
  await on.page.keyboard.press("Escape");
  await expect.poll(() => on.page.evaluate(() => sessionStorage.getItem("gennai.state"))).toContain("Well done");

  await on.page.reload();
  await decided.waitFor();
  expect(await review.getByLabel("Note to the model").inputValue()).toBe("Well done");
  await expect.poll(() => on.page.title()).toBe("Arrow functions – Gennai");
  expect(on.complaints).toEqual([]);
});
