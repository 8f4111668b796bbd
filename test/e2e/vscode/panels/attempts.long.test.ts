import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { before, shop } from "../fixtures/shop.ts";
import { openFile } from "../workbench/editor-pane.ts";
import { pictured } from "../workbench/pictured.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const checked = `import assert from "node:assert/strict";
import { test } from "node:test";
import { shown } from "./basket.js";

test("a price has two digits", () => assert.equal(shown(4.9), "EUR 4.90"));
`;

/** Each copy lies in a directory with its number: one good change, one that does more, and one that is wrong. */
const each = [
  `sed -i 's/"EUR " + price;/"EUR " + price.toFixed(2);/' src/basket.js`,
  `sed -i -e 's/"EUR " + price;/\`EUR \${price.toFixed(2)}\`;/' -e 's|let sum = 0;|let sum = 0; // in EUR|' src/basket.js; ` +
    "printf '# Prices\\n\\nThey have two digits.\\n' > PRICES.md",
  `sed -i 's/"EUR " + price;/"EUR " + Math.round(price);/' src/basket.js`,
].map((command, index) => `*/${index + 1}/*) ${command};;`);

const workbench = useWorkbench(() => ({
  gennai: {
    args: ["--sandbox", "required", "--stages", "required"],
    prices: { input: 3, output: 15 },
    script: [
      {
        match: "two digits",
        steps: [
          { tool: { name: "Bash", args: { command: `case "$PWD" in ${each.join(" ")} esac` } } },
          { usage: { input_tokens: 2400, output_tokens: 310 } },
          { text: ["Prices have two digits now."] },
        ],
      },
    ],
  },
  files: { ...shop, "src/shown.test.js": checked, ".gennai/config.yaml": "check: node --test\n" },
  settings: {
    "editor.minimap.enabled": false,
    "gennai.governance.intents": "off",
    "window.title": "shop",
    "gennai.session.editingMode": "proposal",
  },
}));

test("a prompt is tried three times, an attempt is looked at in the editor's diff, taken, and kept in part", async () => {
  const { page, workspace } = workbench();
  await openFile(page, "basket.js");
  await workbench().runCommand("Gennai: Open REPL in Editor");
  await workbench().runCommand("View: Close Primary Side Bar");
  const repl = new ReplDriver(await workbench().webview("Gennai"));
  await repl.useEditingMode("proposal");
  await repl.send("/attempts 3 show every price with two digits");
  const panel = repl.root.getByRole("region", { name: "Attempts" });
  await panel.getByRole("listitem", { name: /^Attempt 1: / }).waitFor();
  // Each asks whether the project's check may run after its edits.
  const allow = repl.question.locator('button[aria-disabled="false"]', { hasText: "Allow once" });
  const suggested = panel.getByText("Attempt 1 is suggested");
  const ended = async () => {
    if (await allow.isVisible()) await allow.click();
    return suggested.isVisible();
  };
  await expect.poll(ended, { timeout: 180_000 }).toBe(true);
  const best = panel.getByRole("listitem", { name: "Attempt 1: Check passed" });
  const longer = panel.getByRole("listitem", { name: "Attempt 2: Check passed" });
  const wrong = panel.getByRole("listitem", { name: "Attempt 3: Check failed" });
  for (const attempt of [best, longer, wrong]) await attempt.getByText(/tokens, 0\.0118 USD/).waitFor();
  await pictured(workbench(), "attempts");
  expect(await accessibilityProblems(repl)).toEqual([]);
  expect(await workspace.read("src/basket.js")).toBe(before);

  await wrong.getByRole("button", { name: "What the check printed" }).click();
  await wrong
    .getByText(/EUR 4\.90/)
    .first()
    .waitFor();
  await best.getByRole("button", { name: "Open diff of src/basket.js" }).click();
  await page.getByRole("tab", { name: "src/basket.js (changed by Gennai)" }).waitFor();
  await page.locator(".monaco-diff-editor .view-lines").getByText("toFixed").first().waitFor();
  await pictured(workbench(), "attempt-diff");

  await longer.getByRole("button", { name: "Take attempt 2" }).click();
  const review = repl.root.locator(".review");
  const hunk = (name: RegExp) => review.getByRole("article", { name });
  await hunk(/^Hunk 1 of 2, src\/basket\.js/)
    .getByRole("button", { name: "Refuse", exact: true })
    .click();
  await hunk(/^Hunk 2 of 2, src\/basket\.js/)
    .getByRole("button", { name: "Keep", exact: true })
    .click();
  await review.getByRole("button", { name: "Keep file PRICES.md" }).click();
  await review.getByRole("button", { name: /^Apply/ }).click();
  await review.getByRole("button", { name: "Apply now" }).click();
  await review.getByText("Applied").first().waitFor();
  expect(await workspace.read("src/basket.js")).toBe(before.replace('"EUR " + price', "`EUR ${price.toFixed(2)}`"));
  expect(await workspace.read("PRICES.md")).toContain("two digits");
});
