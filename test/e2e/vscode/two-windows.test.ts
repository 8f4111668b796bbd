import { expect, test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { runCommand } from "./palette.ts";
import { countsRows, shows } from "./repl-sight.ts";
import { useWorkbench } from "./use-workbench.ts";
import { openWebview } from "./webview.ts";

const workbench = useWorkbench(() => ({
  settings: { "gennai.editingMode": "proposal" },
  gennai: {
    script: [
      {
        match: "^run",
        steps: [{ tool: { name: "RunInTerminal", args: { command: "echo once >> runs.txt" } } }, { text: ["It ran."] }],
      },
      { match: "^say", steps: [{ text: ["Said."] }] },
    ],
  },
}));

test("of two windows on a workspace one works, and the other watches until it is told to take over", async () => {
  const { page: first } = workbench();
  await runCommand(first, "Gennai: Open REPL");
  const owner = new ReplDriver(await openWebview(first, "REPL"));
  await owner.send("say something");
  await shows(owner, "Said.");
  await owner.idle();

  const second = await first.context().newPage();
  await second.goto(first.url());
  await second.locator(".monaco-workbench .statusbar").waitFor();
  await runCommand(second, "Gennai: Open REPL");
  const watcher = new ReplDriver(await openWebview(second, "REPL"));
  await shows(watcher, "Said.");
  await second.getByRole("button", { name: /^Gennai: watching/ }).waitFor();

  await watcher.send("say it here");
  await shows(watcher, /Another window works on this workspace/);
  expect(await owner.rows.filter({ hasText: "say it here" }).count()).toBe(0);

  await runCommand(second, "Gennai: Take Over Session in This Window");
  await second.getByRole("button", { name: /^Gennai: watching/ }).waitFor({ state: "detached" });
  await first.getByRole("button", { name: /^Gennai: watching/ }).waitFor();
  await watcher.send("say more");
  await countsRows(watcher, "Said.", 2);
  // The first window goes on seeing everything.
  await countsRows(owner, "say more", 1);
});
