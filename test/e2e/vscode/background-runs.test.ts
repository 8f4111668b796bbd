import { listBackgroundRuns } from "@gennai/client/background/background-runs";
import { expect, test } from "vitest";
import { openRepl } from "./repl-in-workbench.ts";
import { useWorkbench } from "./use-workbench.ts";

/** Says something when the user saves the file `say`. */
const echoing =
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
