import { expect, test } from "vitest";
import { openScriptedPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";

test.each([240, 300, 340, 400])("in a side bar %d pixels wide, the choices can be read", async (width) => {
  await using on = await openScriptedPage({ viewport: { width, height: 600 } });
  const { root } = on.repl;
  // What does not fit is told by a tooltip.
  const model = root.locator(".settings-bar button.chip");
  expect(await model.getAttribute("title")).toContain(await model.innerText());
  const cut = await root.locator(".settings-bar select").evaluateAll((selects) =>
    selects.flatMap((select) => {
      if (!(select instanceof HTMLSelectElement)) return [];
      const label = select.closest("label")?.getBoundingClientRect();
      const bar = select.closest(".composer")?.getBoundingClientRect();
      const own = select.getBoundingClientRect();
      const word = select.selectedOptions[0]?.text ?? "";
      const context = document.createElement("canvas").getContext("2d");
      if (label === undefined || bar === undefined || context === null) return [`${word}: nowhere`];
      context.font = getComputedStyle(select).font;
      const room = Math.min(own.right, label.right, bar.right) - Math.max(own.left, label.left, bar.left);
      return room < context.measureText(word).width ? [`${word}: ${room} pixels`] : [];
    }),
  );
  await takeScreenshot(on.page, `composer ${width}`);
  expect(cut).toEqual([]);
  expect(await on.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
});

test("paths are completed before there is a session", async () => {
  await using on = await openScriptedPage();
  const { root, prompt } = on.repl;
  await prompt.pressSequentially("look at @src/a");
  await root.getByRole("option", { name: "src/add.ts" }).waitFor();
  await prompt.press("Enter");
  expect((await prompt.inputValue()).trimEnd()).toBe("look at @src/add.ts");
  expect(on.complaints).toEqual([]);
});

test("a review is decided, edited and applied by keys alone, and knows what was read in the same answer", async () => {
  await using on = await openScriptedPage();
  const { keyboard } = on.page;
  const review = await on.repl.review("propose it", "Proposed.");
  await review.getByText("src/add.ts").first().waitFor();
  expect(await review.getByText("not read in this session").count()).toBe(0);
  // The focus is still on the tab: the first key only goes to the first hunk.
  await keyboard.press("y");
  await expect.poll(() => on.page.evaluate(() => document.activeElement?.closest(".review") !== null)).toBe(true);
  await review.getByText(/\d kept/).waitFor({ state: "detached" });
  await keyboard.press("y");
  await review.getByText("1 kept").waitFor();
  await keyboard.press("n");
  await review.getByText("1 kept · 1 refused").waitFor();
  await takeScreenshot(on.page, "review by keys");
  await keyboard.press("Enter");
  await review.getByRole("button", { name: "Apply now" }).waitFor();
  await keyboard.press("Enter");
  await review.getByText("Applied").first().waitFor();
  await expect
    .poll(() => on.gennai.workspace.read("src/add.ts"))
    .toBe("export const add = (a: number, b: number) => a + b;\n");
  await expect(on.gennai.workspace.read("src/subtract.ts")).rejects.toThrow("ENOENT");
  expect(on.complaints).toEqual([]);
});

test("what is typed in a field of the review decides nothing", async () => {
  await using on = await openScriptedPage();
  const review = await on.repl.review("propose it", "Proposed.");
  await review.getByLabel("Note to the model").pressSequentially("yes, nanny? j");
  expect(await review.getByText(/\d (?:kept|refused)/).count()).toBe(0);
});
