import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { openFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { pictured } from "../workbench/pictured.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const written = `/** The mean of some numbers; 0 of none. */
export function average(numbers) {
  const sum = numbers.reduce((total, number) => total + number, 0);
  return numbers.length === 0 ? 0 : sum / numbers.length;
}
`;
const base = `export const answer = 42;\n\nexport const question = "unknown";\n`;

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  files: { "src/numbers.js": base },
  gennai: {
    script: [
      {
        match: "mean",
        steps: [
          call("Read", { file_path: "src/numbers.js" }),
          call("Edit", { file_path: "src/numbers.js", old_string: "42;\n", new_string: `42;\n\n${written}` }),
          { text: ["There is an average now."] },
        ],
      },
      ...Array.from({ length: 12 }, (_, at) => ({
        match: `talk ${at}`,
        steps: [{ text: [`Words ${at}.\n\n`.repeat(20)] }],
      })),
    ],
  },
  settings: {
    "gennai.governance.intents": "off",
    "files.autoSave": "off",
    "editor.hover.delay": 100,
    "gennai.provenance.hover": true,
    // Nobody is asked, so that each line says so.
    "gennai.createBranch": "always",
  },
}));

test("annotations are off until they are asked for, and then report lines that are recorded", async () => {
  const repl = await openRepl(workbench());
  await repl.send("Add a mean");
  await repl.see("There is an average now.");
  for (let at = 0; at < 3; at++) {
    await repl.send(`talk ${at}`);
    await shows(repl, `Words ${at}.`);
  }
  const { page } = workbench();
  await openFile(page, "numbers.js");
  const words = () => page.evaluate(annotations);
  expect(await words()).not.toMatch(/scripted/);

  await workbench().runCommand("Gennai: Show or Hide Who Wrote Each Line");
  await expect.poll(words, { timeout: patience }).toMatch(/#\d+ scripted.* · no rule asked/);
  await pictured(workbench(), "line-origins");
});

test("a text that is not saved is told about as it stands in the editor", async () => {
  const { page, workspace } = workbench();
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("// Mine, and not saved.\n\n");
  const found = async () => {
    const [line] = await page.evaluate(annotatedLines);
    return line;
  };
  // The function is two lines further down than on disk.
  await expect.poll(found, { timeout: patience }).toMatch(/The mean of some numbers/);
  expect(await workspace.git("diff", "--", "src/numbers.js")).not.toContain("Mine");
});

test("the pointer on a line tells who wrote it, and leads to the call in its session", async () => {
  const { page } = workbench();
  await page.locator(".view-line").getByText("numbers.reduce", { exact: false }).first().hover();
  const hover = page.locator(".monaco-hover:visible").filter({ hasText: "Record" });
  await hover.waitFor();
  const told = (await hover.textContent()) ?? "";
  for (const words of [
    "scripted",
    "session:",
    "intent: none was selected",
    "agreed: no rule asked",
    "checked: the result is as expected",
  ]) {
    expect(told).toContain(words);
  }
  await workbench().screenshot("hover of a line");
  await page.locator(".view-line").getByText("numbers.reduce", { exact: false }).first().hover();
  await hover.getByText("Show where this came from").click();

  const repl = await openRepl(workbench());
  const card = repl.root.locator(".tool-sought");
  await card.waitFor();
  expect(await card.textContent()).toContain("numbers.js");
  await page.getByRole("tab", { name: /numbers\.js \(changed by Gennai\)/ }).waitFor();
  await workbench().screenshot("where a line came from");
});

test("from the call one sees what is left of its lines, and goes there", async () => {
  const repl = await openRepl(workbench());
  const card = repl.root.locator(".tool-sought");
  await repl.root.getByRole("feed").press("d");
  await card.getByRole("button", { name: "Which of these lines are still in the file?" }).click();
  const left = card.locator(".left-today");
  await left.getByText(/lines? of \d+ that it wrote (is|are) still there/).waitFor();
  await workbench().screenshot("what is left of a call");
  await left
    .getByRole("button", { name: /src\/numbers\.js:\d+/ })
    .first()
    .click();
  await workbench()
    .page.locator(".statusbar")
    .getByText(/^Ln 3, Col 1/)
    .waitFor();
});

test("a line that nobody recorded is said to be unknown", async () => {
  const { page } = workbench();
  await openFile(page, "numbers.js");
  await page.keyboard.press("Control+Home");
  await workbench().runCommand("Gennai: Show Where This Came From");
  await workbench().notice(/Who wrote this line is not known: nothing recorded is like it/);
});

/** Text shown after lines by CSS: decorations have it in their own rules. */
function annotations(): string {
  return [...document.styleSheets]
    .flatMap((sheet) => [...sheet.cssRules])
    .map((rule) => rule.cssText)
    .filter((text) => text.includes("ced-") && text.includes("content:"))
    .join("\n");
}

function annotatedLines(): readonly string[] {
  return [...document.querySelectorAll(".editor-instance .view-line")]
    .filter((line) =>
      [...line.querySelectorAll("span")].some((span) => getComputedStyle(span, "::after").content.includes("#")),
    )
    .map((line) => (line.textContent ?? "").replaceAll("\u00a0", " "));
}
