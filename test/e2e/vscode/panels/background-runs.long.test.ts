import { listBackgroundRuns } from "@gennai/client/background/background-runs";
import { expect, test } from "vitest";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

/** Says something when the user saves the file `say`, and greets the one who calls its port. */
const echoing =
  'import { createServer } from "node:http"; createServer((_, response) => response.end("hello")).listen(4321);' +
  'import { existsSync } from "node:fs"; console.log("waiting"); let said = false;' +
  'setInterval(() => { if (!said && existsSync("say")) { said = true; console.log("it was saved"); } }, 50);\n';

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  gennai: {
    args: ["--sandbox", "required", "--stages", "required"],
    script: [
      {
        steps: [
          { tool: { name: "Bash", args: { command: "node echoing.mjs", run_in_background: true } } },
          { text: ["It runs."] },
        ],
      },
      {
        steps: [{ tool: { name: "BashOutput", args: { bash_id: "b1" } } }, { text: ["I have read it."] }],
      },
    ],
  },
  files: { "echoing.mjs": echoing },
  // Text that can be read in the page.
  settings: { "gennai.governance.intents": "off", "terminal.integrated.gpuAcceleration": "off" },
}));

async function runs() {
  const { client } = workbench().gennai;
  const { sessions } = await client.listSessions({});
  return listBackgroundRuns(client, sessions[0]?.sessionId ?? "");
}

const terminal = () => workbench().page.locator(".terminal.xterm .xterm-rows");

test("what runs in the background is listed, and watched in a terminal", async () => {
  const repl = await openRepl(workbench());
  await repl.send("start it");
  await workbench().pick("Create ai-agent/start-it");
  await repl.see("It runs.");
  await workbench().runCommand("Gennai: Background Runs…");
  await workbench().pick("b1  node echoing.mjs");
  await workbench().pick("Watch");
  await terminal().getByText("waiting").waitFor();
  await workbench().workspace.write("say", "");
  await terminal().getByText("it was saved").waitFor();
  await workbench().screenshot("background run in a terminal");
});

test("the model reads what it printed, and a port of it is opened to this machine", async () => {
  const repl = await openRepl(workbench());
  await repl.send("what did it say?");
  await repl.see("I have read it.");
  await repl.root.locator(".tool-head").filter({ hasText: "BashOutput" }).click();
  await repl.root.locator(".tool").filter({ hasText: "it was saved" }).first().waitFor();
  await workbench().runCommand("Gennai: Background Runs…");
  await workbench().pick("b1  node echoing.mjs");
  await workbench().pick("Open a Port…");
  const { page } = workbench();
  // The list before it may still be there, and the extension looks at each value: who is faster than that gives none.
  const asked = page.locator(".quick-input-widget:visible").filter({ hasText: "Open a port of b1" });
  const box = asked.locator(".quick-input-box input");
  await box.fill("none");
  await page.getByText("A number from 1 to 65535.").first().waitFor();
  await box.fill("4321");
  await asked.getByText("On which port does it listen?").waitFor();
  await box.press("Enter");
  await workbench().notice(/leads to port 4321 of b1/);
  const said = await page.locator(".notification-list-item").filter({ hasText: "leads to port" }).first().innerText();
  const response = await fetch(/http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? "");
  expect(await response.text()).toBe("hello");
  await page.keyboard.press("Escape");
});

test("Stop ends it, and its terminal says so", async () => {
  await workbench().runCommand("Gennai: Background Runs…");
  await workbench().pick("b1  node echoing.mjs");
  await workbench().pick("Stop");
  await terminal()
    .getByText(/b1 has ended: stopped by/)
    .waitFor();
  expect((await runs()).map(({ isRunning, end }) => [isRunning, end])).toEqual([
    [false, expect.stringContaining("stopped by")],
  ]);
});
