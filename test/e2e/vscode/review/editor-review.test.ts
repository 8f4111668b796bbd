import { call } from "@gennai/testkit/scripted-steps";
import type { Locator } from "playwright-core";
import { describe, expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { openFile, saveFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import type { Workbench } from "../workbench/workbench.ts";

const before = `/** Adds what a basket holds. */
export function total(prices: number[]): number {
  let sum = 0;
  for (const price of prices) sum += price;
  return sum;
}

/** True when nothing was put in. */
export function isEmpty(prices: number[]): boolean {
  return prices.length === 0;
}

/** What is paid on top. */
export const shipping = 4.9;

/** In the shop's own way. */
export function shown(price: number): string {
  return "EUR " + price;
}
`;
const after = before
  .replace(/ {2}let sum[^]*?return sum;/, "  return prices.reduce((sum, price) => sum + price, 0);")
  .replace('"EUR " + price', "`EUR ${price.toFixed(2)}`");
const made = "export const free = 0;\n";

const lens = ({ page }: Workbench, title: string | RegExp): Locator =>
  page.locator(".editor-instance .codelens-decoration a").filter({ hasText: title });

/** Where the cursor is, as the status bar says it. */
async function cursorIsAt({ page }: Workbench, line: number): Promise<void> {
  await page.locator(".statusbar").getByText(`Ln ${line}, Col 1`).waitFor();
}

const read = (path: string) => call("Read", { file_path: path });

/** Each test goes on where the one before it ended. The last ones are about a file of their own. */
const workbench = useWorkbench(() => ({
  files: {
    "src/basket.ts": before,
    "src/till.ts": before,
    "package.json": '{\n  "name": "shop",\n  "scripts": { "test": "node --test" }\n}\n',
  },
  settings: { "gennai.editingMode": "proposal", "files.autoSave": "off" },
  gennai: {
    script: [
      {
        match: "^propose",
        steps: [
          read("src/basket.ts"),
          call("ProposeChanges", {
            changes: [
              { path: "src/basket.ts", operation: "update", new_content: after },
              { path: "src/free.ts", operation: "create", new_content: made },
            ],
          }),
          { text: ["Proposed."] },
        ],
      },
      {
        match: "^write",
        steps: [
          read("src/till.ts"),
          call("Write", { file_path: "src/till.ts", content: after }),
          call("Write", { file_path: "src/owed.ts", content: made }),
          { text: ["Written."] },
        ],
      },
      {
        match: "^retest",
        steps: [call("Bash", { command: "sed -i s/--test/--check/ package.json" }), { text: ["Asked."] }],
      },
      {
        match: "^tidy",
        steps: [
          read("src/basket.ts"),
          call("Move", { from: "src/basket.ts", to: "src/cart.ts" }),
          read("src/cart.ts"),
          call("Edit", { file_path: "src/cart.ts", old_string: "let sum = 0", new_string: "let sum: number = 0" }),
          read("src/till.ts"),
          call("Delete", { path: "src/till.ts" }),
          { text: ["Tidied."] },
        ],
      },
    ],
  },
}));

describe("a proposal", () => {
  test("stands in its file, with actions above each hunk", async () => {
    await openRepl(workbench()).then((repl) => repl.send("propose a change"));
    await shows(new ReplDriver(await workbench().webview("REPL")), "Proposed.");
    await openFile(workbench().page, "basket.ts");
    await lens(workbench(), "Proposed change 1 of 2").waitFor();
    await lens(workbench(), "Proposed change 2 of 2").waitFor();
    await expect.poll(() => lens(workbench(), /^Keep$/).count(), { timeout: patience }).toBe(2);
    await workbench().screenshot("review in editor");
    expect(await workbench().workspace.read("src/basket.ts")).toBe(before);
  });

  test("a key goes from one hunk to the next, and on to the next file", async () => {
    const { page } = workbench();
    await openFile(page, "basket.ts");
    await page.keyboard.press("Alt+F5");
    await page.getByRole("tab", { name: /basket\.ts \(proposed update\)/ }).waitFor();
    await cursorIsAt(workbench(), 3);
    await page.locator(".monaco-diff-editor").getByText("let sum = 0").first().waitFor();
    await page.locator(".statusbar").getByText("1 of 2 changes").waitFor();
    await workbench().screenshot("review in diff");
    await page.keyboard.press("Alt+F5");
    await cursorIsAt(workbench(), 16);
    await page.locator(".statusbar").getByText("2 of 2 changes").waitFor();
    await page.keyboard.press("Shift+Alt+F5");
    await cursorIsAt(workbench(), 3);
    await page.keyboard.press("Alt+F5");
    await page.keyboard.press("Alt+F5");
    await page.getByRole("tab", { name: /free\.ts/ }).waitFor();
    await lens(workbench(), /^Proposed change \(/).waitFor();
    await workbench().screenshot("review in editor new file");
  });

  test("what is decided in the editor stands in the panel, and the other way round", async () => {
    const repl = await openRepl(workbench());
    await repl.openPanel("Review");
    const hunks = repl.root.locator("article.hunk");
    await openFile(workbench().page, "basket.ts");
    await lens(workbench(), /^Keep$/)
      .first()
      .click();
    await lens(workbench(), /^Proposed change 1 of 2 .*: kept$/).waitFor();
    await hunks.nth(0).getByText("Kept").waitFor();
    await hunks.nth(1).getByRole("button", { name: "Refuse" }).click();
    await lens(workbench(), /^Proposed change 2 of 2 .*: refused$/).waitFor();
    await repl.root.getByRole("button", { name: "Open diff of src/basket.ts" }).click();
    await workbench()
      .page.getByRole("tab", { name: /basket\.ts \(proposed update\)/ })
      .waitFor();
    await workbench().page.locator(".monaco-diff-editor").first().waitFor();
    await openFile(workbench().page, "basket.ts");
  });

  test("an own version of a hunk is written in an editor and saved", async () => {
    const { page } = workbench();
    await lens(workbench(), /^Edit$/)
      .nth(1)
      .click();
    await page.locator(".editor-group-container.active").getByText("toFixed").first().waitFor();
    await page.keyboard.press("Control+Home");
    await page.keyboard.type("// mine\n");
    await saveFile(page);
    await lens(workbench(), /^Proposed change 2 of 2 .*: edited$/).waitFor();
  });

  test("all of it is one native diff", async () => {
    await workbench().runCommand("Gennai: Show All Changes");
    const { page } = workbench();
    await page.getByRole("tab", { name: /Proposed changes/ }).waitFor();
    await page.locator(".multiDiffEntry, .multi-diff-editor, .monaco-component").getByText("free.ts").first().waitFor();
    await workbench().screenshot("review all changes");
  });

  test("what was kept is applied from the panel, and the editor shows nothing any more", async () => {
    const repl = await openRepl(workbench());
    await repl.openPanel("Review");
    await repl.root.getByRole("button", { name: /^Apply 2 hunks/ }).click();
    await repl.root.getByRole("button", { name: "Apply now" }).click();
    await shows(repl, "Applied to 1 file.");
    const text = await workbench().workspace.read("src/basket.ts");
    expect(text).toContain("prices.reduce");
    expect(text).toContain("// mine");
    await openFile(workbench().page, "basket.ts");
    await expect.poll(() => lens(workbench(), /change/).count(), { timeout: patience }).toBe(0);
    await repl.root.getByRole("button", { name: "Undo what was applied" }).click();
    await shows(repl, "What was applied is undone.");
    expect(await workbench().workspace.read("src/basket.ts")).toBe(before);
  });
});

describe("what the agent wrote", () => {
  test("stands in its file until its user looked at it", async () => {
    await workbench().runCommand("View: Close All Editors");
    const repl = await openRepl(workbench());
    await repl.openPanel("Chat");
    await repl.useEditingMode("branch");
    await repl.send("write it");
    await repl.answer("yes");
    await shows(repl, "Written.");
    await openFile(workbench().page, "till.ts");
    await lens(workbench(), "Agent's change 1 of 2").waitFor();
    await workbench().screenshot("written in editor");
    await workbench().runCommand("Gennai: Go to Next Change");
    await workbench().page.locator(".monaco-diff-editor").getByText("let sum = 0").first().waitFor();
    await workbench().screenshot("written in diff");
  });

  test("one hunk is taken back in the file, as one step, and comes back with Undo", async () => {
    const { page, workspace } = workbench();
    // In a line of its own: Enter within a comment would go on with it.
    await openFile(page, "till.ts");
    await page.keyboard.press("Control+End");
    await page.keyboard.type("// mine");
    await saveFile(page);
    await expect.poll(() => workspace.read("src/till.ts"), { timeout: patience }).toBe(`${after}// mine`);
    await lens(workbench(), "Agent's change 1 of 2").waitFor();
    await lens(workbench(), /^Undo$/)
      .first()
      .click();
    const undone = `${before.replace('"EUR " + price', "`EUR ${price.toFixed(2)}`")}// mine`;
    await expect.poll(() => workspace.read("src/till.ts"), { timeout: patience }).toBe(undone);
    await lens(workbench(), /^Agent's change \(/).waitFor();
    await page.locator(".editor-instance .monaco-editor").first().click();
    await page.keyboard.press("Control+z");
    await saveFile(page);
    await expect.poll(() => workspace.read("src/till.ts"), { timeout: patience }).toBe(`${after}// mine`);
    await lens(workbench(), "Agent's change 1 of 2").waitFor();
  });

  test("what was looked at stays so after a reload, and the rest waits", async () => {
    await lens(workbench(), /^Keep$/)
      .first()
      .click();
    await lens(workbench(), /^Agent's change \(/).waitFor();
    await workbench().reload();
    await openFile(workbench().page, "till.ts");
    await lens(workbench(), /^Agent's change \(/).waitFor();
    expect(await lens(workbench(), "Agent's change 1 of 2").count()).toBe(0);
    expect(await workbench().workspace.read("src/till.ts")).toBe(`${after}// mine`);
  });

  test("all of it is one native diff, and is looked at as a whole", async () => {
    const { page } = workbench();
    await workbench().runCommand("Gennai: Show All Changes");
    await page.getByRole("tab", { name: /Written since you last looked/ }).waitFor();
    await workbench().screenshot("written all changes");
    await page.locator(".editor-actions").getByRole("button", { name: "Keep All" }).click();
    await openFile(page, "till.ts");
    await expect.poll(() => lens(workbench(), /change/).count(), { timeout: patience }).toBe(0);
  });

  test("a rename and a deletion are one decision each, in words of their own", async () => {
    const { page, workspace } = workbench();
    const repl = await openRepl(workbench());
    await repl.send("tidy up");
    await shows(repl, "Tidied.");
    await openFile(page, "cart.ts");
    await lens(workbench(), "Agent's rename 1 of 2 (was src/basket.ts)").waitFor();
    await lens(workbench(), "Agent's change 2 of 2").waitFor();
    await workbench().screenshot("rename in editor");
    await page.keyboard.press("Alt+F5");
    await page.getByRole("tab", { name: /cart\.ts \(since you looked\)/ }).waitFor();
    await page.locator(".statusbar").getByText("1 of 2 changes").waitFor();
    await page.keyboard.press("Alt+F5");
    await page.locator(".statusbar").getByText("2 of 2 changes").waitFor();
    await page.keyboard.press("Alt+F5");
    await page.getByRole("tab", { name: /till\.ts \(deleted since you looked\)/ }).waitFor();
    await lens(workbench(), /^Agent's deletion$/).waitFor();
    await workbench().screenshot("deletion in diff");
    await lens(workbench(), /^Bring back$/).click();
    await expect.poll(() => workspace.read("src/till.ts").catch(() => ""), { timeout: patience }).toContain("// mine");
    await workbench().runCommand("Gennai: Show All Changes");
    await page.getByRole("tab", { name: /Written since you last looked/ }).waitFor();
    await workbench().screenshot("rename in all changes");
    await openFile(page, "cart.ts");
    await lens(workbench(), /^Undo rename$/).click();
    await openFile(page, "basket.ts");
    await lens(workbench(), /^Agent's change \(/).waitFor();
    expect(await workspace.read("src/basket.ts")).toContain("let sum: number = 0");
  });
});
