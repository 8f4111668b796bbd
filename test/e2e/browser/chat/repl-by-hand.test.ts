import { expect, test } from "vitest";
import { openPage } from "../page/open-page.ts";
import { takeScreenshot } from "../page/screenshot.ts";
import { scripted } from "../page/scripted-work.ts";
import { useGennai } from "../page/use-gennai.ts";

const gennai = useGennai(scripted);

test.each([240, 300, 340, 400])("in a side bar %d pixels wide, the choices can be read", async (width) => {
  await using on = await openPage(gennai(), { viewport: { width, height: 600 } });
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
  await using on = await openPage(gennai());
  const { root, prompt } = on.repl;
  await prompt.pressSequentially("look at @src/a");
  await root.getByRole("option", { name: "src/add.ts" }).waitFor();
  await prompt.press("Enter");
  expect((await prompt.inputValue()).trimEnd()).toBe("look at @src/add.ts");
  expect(on.complaints).toEqual([]);
});

test("what is typed in a field of the review decides nothing", async () => {
  await using on = await openPage(gennai());
  const review = await on.repl.review("propose it", "Proposed.");
  await review.getByLabel("Note to the model").pressSequentially("yes, nanny? j");
  expect(await review.getByText(/\d (?:kept|refused)/).count()).toBe(0);
});

test("decisions of a review, and a session's new name, survive a reload", async () => {
  await using on = await openPage(gennai());
  const { root } = on.repl;
  const review = await on.repl.review("propose to keep", "Proposed.");
  await review.getByRole("button", { name: "Keep all", exact: true }).click();
  await review.getByLabel("Note to the model").fill("Well done");
  const decided = review.getByText("2 kept");
  await decided.waitFor();

  await root.getByRole("button", { name: "Sessions" }).click();
  await root.getByRole("button", { name: "Rename propose to keep" }).click();
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

test("a review is decided, edited and applied by keys alone, and knows what was read in the same answer", async () => {
  await using on = await openPage(gennai());
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
    .poll(() => gennai().workspace.read("src/add.ts"))
    .toBe("export const add = (a: number, b: number) => a + b;\n");
  await expect(gennai().workspace.read("src/subtract.ts")).rejects.toThrow("ENOENT");
  expect(on.complaints).toEqual([]);
});

test("a command of the prompt is completed and runs; one that is none is sent as it is; ↑ brings it back", async () => {
  await using opened = await openPage(gennai());
  const { repl: on } = opened;
  await on.prompt.pressSequentially("/hel");
  const completions = on.root.getByRole("listbox", { name: "Completions" });
  await completions.getByText("/help", { exact: true }).waitFor();
  await takeScreenshot(opened.page, "slash commands");
  await on.prompt.press("Tab");
  await on.prompt.press("Enter");
  const note = on.root.locator(".composer-note");
  await note.getByText("/compact").waitFor();
  await on.send("/branch");
  await note.getByText("Branch Mode from now on.").waitFor();
  await on.send("/proposal");
  await note.getByText("Proposal Mode from now on.").waitFor();
  await on.send("/nothing of that name");
  await on.see("Said.");
  await note.getByText("There is no command /nothing").waitFor();
  await on.idle();
  await on.prompt.press("ArrowUp");
  expect(await on.prompt.inputValue()).toBe("/nothing of that name");
});
