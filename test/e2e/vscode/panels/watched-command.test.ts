import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pictured } from "../workbench/pictured.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const sleep = "sleep 86547";

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  gennai: {
    args: ["--sandbox", "required", "--stages", "required"],
    script: [
      {
        steps: [
          { tool: { name: "Bash", args: { command: `echo it has begun > begun.txt; cat begun.txt; ${sleep}` } } },
          { text: ["It was stopped."] },
        ],
      },
    ],
  },
  // Text that can be read in the page.
  settings: { "gennai.governance.intents": "off", "terminal.integrated.gpuAcceleration": "off" },
}));

/** Processes with exactly this command line. */
function running(command: string): number {
  const wanted = `${command.replaceAll(" ", "\0")}\0`;
  return readdirSync("/proc").filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/cmdline`, "latin1") === wanted;
    } catch {
      return false;
    }
  }).length;
}

const terminal = () => workbench().page.locator(".terminal.xterm .xterm-rows");

test("a command that a turn waits for is watched in a terminal", async () => {
  const repl = await openRepl(workbench());
  await repl.send("begin");
  await workbench().pick("Create ai-agent/begin");
  await expect.poll(() => running(sleep)).toBe(1);
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
  expect(running(sleep)).toBe(0);
  const repl = await openRepl(workbench());
  await repl.see("It was stopped.");
  await workbench().screenshot("command stopped in its terminal");
  expect(await workbench().workspace.git("status", "--porcelain", "--", "begun.txt")).toBe("");
});
