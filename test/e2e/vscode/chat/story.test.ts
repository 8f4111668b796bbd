import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { openFile, saveFile } from "../workbench/editor-pane.ts";
import { patience } from "../workbench/patience.ts";
import { countsRows, shows } from "../workbench/repl-sight.ts";
import { hasStored } from "../workbench/stored-state.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const words = Array.from({ length: 40 }, (_, index) => `export const word${index + 1} = "old";\n`);
const changed = words.map((line, index) => ([1, 19, 37].includes(index) ? line.replace("old", "new") : line)).join("");

/** A whole piece of work: each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  settings: { "gennai.showThinking": true, "files.autoSave": "off" },
  files: { "src/words.ts": words.join(""), "notes.txt": "saved\n" },
  gennai: {
    script: [
      {
        match: "^look",
        steps: [
          { thinking: ["The notes come first, ", "then the terminal."] },
          { tool: { name: "Read", args: { file_path: "notes.txt" } } },
          { tool: { name: "RunInTerminal", args: { command: "touch made.txt && echo typed-for-you && false" } } },
          { text: ["Looked, and ran it."] },
        ],
      },
      {
        match: "^propose",
        steps: [
          { tool: { name: "Read", args: { file_path: "src/words.ts" } } },
          {
            tool: {
              name: "ProposeChanges",
              args: { changes: [{ path: "src/words.ts", operation: "update", new_content: changed }] },
            },
          },
          { text: ["Three words are proposed."] },
        ],
      },
      {
        match: "^slowly",
        steps: [
          { text: ["The first part. "] },
          { delay_ms: 4000 },
          { tool: { name: "Read", args: { file_path: "README.md" } } },
          { delay_ms: 4000 },
          { text: ["The last part."] },
        ],
      },
    ],
  },
}));

async function repl(): Promise<ReplDriver> {
  return new ReplDriver(await workbench().webview("REPL"));
}

test("a first prompt on main asks for a branch; a reload before the answer keeps the prompt", async () => {
  const { page } = workbench();
  await workbench().runCommand("Gennai: Open REPL");
  await (await repl()).send("look around");
  await page.locator(".quick-input-widget:visible").getByText("Create ai-agent/look-around").waitFor();
  await expect.poll(() => hasStored(page, "look around"), { timeout: patience }).toBe(true);
  await workbench().reload();
  await expect.poll(async () => (await repl()).prompt.inputValue(), { timeout: patience }).toBe("look around");
  expect(await workbench().workspace.git("branch", "--show-current")).toBe("main");
});

test("a question is thought about; a file is read as its editor shows it", async () => {
  const { page, workspace } = workbench();
  await openFile(page, "notes.txt");
  await page.keyboard.type("not saved yet ");
  await workbench().runCommand("Gennai: Open REPL");
  const driver = await repl();
  await driver.prompt.press("Enter");
  await workbench().pick("Create ai-agent/look-around");
  await shows(driver, "The notes come first, then the terminal.");
  await driver.root.getByRole("button", { name: /^Read/ }).click();
  await shows(driver, "not saved yet saved");
  expect(await workspace.read("notes.txt")).toBe("saved\n");
  expect(await workspace.git("branch", "--show-current")).toBe("ai-agent/look-around");
});

test("a command is asked about, and runs in the terminal with its output and exit code", async () => {
  const driver = await repl();
  expect(await driver.question.getByLabel("The exact command").textContent()).toBe(
    "touch made.txt && echo typed-for-you && false",
  );
  await expect(workbench().workspace.read("made.txt")).rejects.toThrow("ENOENT");
  await driver.question.locator('button[aria-disabled="false"]').first().waitFor();
  await workbench().screenshot("story question");
  await driver.answer("Allow once");
  await shows(driver, "Looked, and ran it.");
  expect(await workbench().workspace.read("made.txt")).toBe("");
  const call = driver.root.locator(".tool").filter({ hasText: "RunInTerminal" });
  await call.getByText("exit 1").first().waitFor();
  await call.getByRole("button").first().click();
  await call
    .locator("pre.output")
    .filter({ hasText: /^typed-for-you/ })
    .waitFor();
  await workbench()
    .page.getByRole("tab", { name: /Terminal/ })
    .or(workbench().page.locator(".terminal-tabs-entry, .single-terminal-tab"))
    .first()
    .waitFor();
});

test("of a proposal one hunk is kept, one refused and one edited", async () => {
  const driver = await repl();
  await driver.useEditingMode("proposal");
  await driver.send("propose new words");
  await shows(driver, "Three words are proposed.");
  await driver.openPanel("Review");
  const hunks = driver.root.locator("article.hunk");
  await hunks.nth(2).waitFor();
  await hunks.nth(0).getByRole("button", { name: "Keep" }).click();
  await hunks.nth(1).getByRole("button", { name: "Refuse" }).click();
  await hunks.nth(2).getByRole("button", { name: "Edit" }).click();
  const field = hunks.nth(2).getByRole("textbox");
  // A browser adds a line end to a block's text.
  await field.fill((await field.innerText()).replace(/\n$/, "").replace('"new"', '"mine"'));
  await hunks.nth(2).getByRole("button", { name: "Keep these lines" }).click();
  expect(await workbench().workspace.read("src/words.ts")).toBe(words.join(""));
  await workbench().screenshot("story review");
  await driver.root.getByRole("button", { name: /^Apply 2 hunks/ }).click();
  await driver.root.getByRole("button", { name: "Apply now" }).click();
  await shows(driver, "Applied to 1 file.");
  const expected = words.map((line, index) =>
    index === 1 ? line.replace("old", "new") : index === 37 ? line.replace("old", "mine") : line,
  );
  expect(await workbench().workspace.read("src/words.ts")).toBe(expected.join(""));
});

test("one Undo in the editor takes all of it back", async () => {
  const { page, workspace } = workbench();
  await openFile(page, "words.ts");
  await page.keyboard.press("Control+z");
  await saveFile(page);
  await expect.poll(() => workspace.read("src/words.ts"), { timeout: patience }).toBe(words.join(""));
});

test("a window that is reloaded in the middle of a turn loses nothing and doubles nothing", async () => {
  await workbench().runCommand("Gennai: Open REPL");
  const before = await repl();
  await before.openPanel("Chat");
  await before.send("slowly now");
  await shows(before, "The first part.");
  await workbench().reload();
  const driver = await repl();
  await shows(driver, "The last part.");
  await driver.idle();
  await countsRows(driver, "The first part.", 1);
  await countsRows(driver, "The last part.", 1);
  await countsRows(driver, "slowly now", 1);
  expect((await driver.toolCalls()).at(-1)).toBe("Read done");
});
