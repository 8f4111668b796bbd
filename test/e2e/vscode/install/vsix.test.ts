import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, inject, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { runCommand } from "../workbench/palette.ts";
import { patience } from "../workbench/patience.ts";
import { countsRows, shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { stepsDone, walkthrough, walkthroughTab } from "../workbench/walkthrough.ts";
import { openWebview } from "../workbench/webview.ts";

const workbench = useWorkbench(() => ({
  // A release tries its own.
  vsix: process.env["GENNAI_TEST_VSIX"] ?? inject("vsix"),
  settings: { "gennai.editingMode": "proposal" },
  machineSettings: { "workbench.welcomePage.walkthroughs.openOnInstall": true },
  gennai: { script: [{ steps: [{ text: ["Hello from the package."] }] }] },
}));

test("the packaged extension installs where none was, activates, and answers a prompt", async () => {
  const { page } = workbench();
  await page.getByRole("tab", { name: /^Gennai/ }).click();
  const repl = new ReplDriver(await workbench().webview("REPL"));
  await walkthrough(page).waitFor();
  // One types at once: the walkthrough left the prompt the focus.
  await expect
    .poll(() => repl.prompt.evaluate((box) => box === document.activeElement), { timeout: patience })
    .toBe(true);
  await page.keyboard.type("say hello");
  await page.keyboard.press("Enter");
  await shows(repl, "Hello from the package.");
  await repl.idle();
  await page.getByRole("button", { name: /^Gennai: scripted/ }).waitFor();
  await countsRows(repl, "Hello from the package.", 1);
});

test("its page among the extensions has no picture: VS Code loads those of the web alone", () => {
  const [readme = "there is none"] = readdirSync(inject("extension")).filter((name) => /^readme\.md$/i.test(name));
  const text = readFileSync(join(inject("extension"), readme), "utf8");
  expect(text).toContain("# Gennai for VS Code");
  expect(text).not.toMatch(/!\[|<img/);
});

test("the steps of the walkthrough, which opened by itself, are done by doing", async () => {
  const { page } = workbench();
  await workbench().screenshot("vsix");
  await expect
    .poll(() => stepsDone(page), { timeout: patience })
    .toMatchObject({ server: true, model: false, prompt: true, govern: false });
  await workbench().runCommand("Gennai: Emergency: Read-Only");
  await expect.poll(() => stepsDone(page), { timeout: patience }).toMatchObject({ model: false, govern: true });
});

test("it opens once: not in the window of another folder", async () => {
  const { page } = workbench();
  await using elsewhere = await temporaryRepository({ "other.txt": "other\n" });
  const second = await page.context().newPage();
  const address = new URL(page.url());
  address.searchParams.set("folder", elsewhere.root);
  await second.goto(address.href);
  await second.locator(".monaco-workbench .statusbar").waitFor();
  await runCommand(second, "Gennai: Open REPL");
  await new ReplDriver(await openWebview(second, "REPL")).prompt.waitFor();
  expect(await walkthroughTab(second).count()).toBe(0);
  await second.close();
});
