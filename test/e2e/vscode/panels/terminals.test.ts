import { processesRunning } from "@gennai/testkit/processes";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { pictured } from "../workbench/pictured.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const sleep = "sleep 86547";
/** Says something when the user saves the file `say`, and greets the one who calls its port. */
const echoing =
  'import { createServer } from "node:http"; createServer((_, response) => response.end("hello")).listen(4321);' +
  'import { existsSync } from "node:fs"; console.log("waiting"); let said = false;' +
  'setInterval(() => { if (!said && existsSync("say")) { said = true; console.log("it was saved"); } }, 50);\n';

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  gennai: {
    args: ["--commands", "staged"],
    script: [
      {
        match: "^begin",
        steps: [bash(`echo it has begun > begun.txt; cat begun.txt; ${sleep}`), { text: ["It was stopped."] }],
      },
      {
        match: "^retest",
        steps: [bash("sed -i s/--test/--check/ package.json"), { text: ["It stays."] }],
      },
      {
        match: "^start",
        steps: [call("Bash", { command: "node echoing.mjs", run_in_background: true }), { text: ["It runs."] }],
      },
    ],
  },
  files: { "echoing.mjs": echoing, "package.json": '{\n  "scripts": { "test": "node --test" }\n}\n' },
  // Text that can be read in the page.
  settings: { "gennai.governance.intents": "off", "terminal.integrated.gpuAcceleration": "off" },
}));

const terminal = () => workbench().page.locator(".terminal.xterm .xterm-rows");

test("a command that a turn waits for is watched in a terminal", async () => {
  const repl = await openRepl(workbench());
  await repl.send("begin");
  await expect.poll(() => processesRunning(sleep)).toHaveLength(1);
  await repl.root.getByRole("button", { name: "Watch in terminal" }).click();
  await terminal().getByText("it has begun", { exact: true }).waitFor();
  await pictured(workbench(), "command");
});

test("Ctrl+C there stops the command and not the turn: its process is gone, nothing of it is kept", async () => {
  await workbench().page.locator(".terminal.xterm textarea").focus();
  await workbench().page.keyboard.press("Control+c");
  await terminal()
    .getByText(/it has ended: The user stopped this call/)
    .waitFor();
  expect(processesRunning(sleep)).toEqual([]);
  const repl = await openRepl(workbench());
  await repl.see("It was stopped.");
  expect(await workbench().workspace.git("status", "--porcelain", "--", "begun.txt")).toBe("");
});

test("what runs in the background is listed, and watched in a terminal", async () => {
  const repl = await openRepl(workbench());
  await repl.idle();
  await repl.send("start it");
  await repl.see("It runs.");
  await workbench().runCommand("Gennai: Background Runs…");
  await workbench().pick("b1  node echoing.mjs");
  await workbench().pick("Watch");
  await terminal().getByText("waiting").waitFor();
  await workbench().workspace.write("say", "");
  await terminal().getByText("it was saved").waitFor();
});

test("what a command would change opens in the editor's own diff, beside its question", async () => {
  const { page } = workbench();
  const repl = await openRepl(workbench());
  await repl.idle();
  await repl.send("retest");
  await repl.root.getByRole("button", { name: "Show change" }).click();
  await page.getByRole("tab", { name: /package\.json \(would be kept\)/ }).waitFor();
  await page.locator(".monaco-diff-editor").getByText("--check").first().waitFor();
  await workbench().screenshot("question in diff");
  await repl.answer("no");
  await repl.see("It stays.");
});
