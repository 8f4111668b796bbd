import { test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { openFile } from "./editor-pane.ts";
import { shows } from "./repl-sight.ts";
import { useWorkbench } from "./use-workbench.ts";

const before = `/** Adds what a basket holds. */
export function total(prices: number[]): number {
  let sum = 0;
  for (let i = 0; i < prices.length; i++) {
    sum = sum + prices[i];
  }
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

/** The pictures of the documentation are made here. */
const workbench = useWorkbench(() => ({
  settings: { "gennai.showThinking": true, "workbench.colorTheme": "Light Modern" },
  files: { "src/basket.ts": before },
  gennai: {
    script: [
      {
        match: "^tidy",
        steps: [
          { thinking: ["The basket adds by hand; reduce says the same in one line."] },
          { tool: { name: "Read", args: { file_path: "src/basket.ts" } } },
          { tool: { name: "Bash", args: { command: "rm -rf /", description: "Clean up" } } },
          { tool: { name: "RunInTerminal", args: { command: "echo 4 tests passed && touch .tested" } } },
          { text: ["The tests pass. I would write `total` with **reduce** and show prices with two digits."] },
        ],
      },
      {
        match: "^propose",
        steps: [
          { tool: { name: "Read", args: { file_path: "src/basket.ts" } } },
          {
            tool: {
              name: "ProposeChanges",
              args: { changes: [{ path: "src/basket.ts", operation: "update", new_content: after }] },
            },
          },
          { text: ["Proposed."] },
        ],
      },
    ],
  },
}));

test("a question, a conversation and a review", async () => {
  const { page } = workbench();
  await openFile(page, "basket.ts");
  await workbench().runCommand("Gennai: Open REPL in Editor");
  const repl = new ReplDriver(await workbench().webview("Gennai"));
  await workbench().runCommand("View: Close Primary Side Bar");
  await repl.send("tidy up the basket");
  await workbench().pick("Create ai-agent/tidy-up-the-basket");
  await repl.question.locator('button[aria-disabled="false"]').first().waitFor();
  await workbench().screenshot("vscode confirm");
  await repl.answer("Allow once");
  await shows(repl, "The tests pass.");
  await repl.idle();
  await workbench().screenshot("vscode chat");
  await repl.useEditingMode("proposal");
  await repl.send("propose it");
  await shows(repl, "Proposed.");
  await repl.openPanel("Review");
  const hunks = repl.root.locator("article.hunk");
  await hunks.nth(1).waitFor();
  await hunks.nth(0).getByRole("button", { name: "Keep" }).click();
  await page.keyboard.press("Control+j");
  await workbench().screenshot("vscode review");
});
