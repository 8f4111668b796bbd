import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { scriptedFiles, scriptedWork } from "../../browser/page/scripted-work.ts";
import { patience } from "../workbench/patience.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const bash = (match: string, command: string) => ({
  match,
  steps: [call("Bash", { command }), { text: [`Over: ${match}.`] }],
});
const rules = "bashToolPatterns:\n  - pattern: frobnicate\n    reason: nobody knows what it does\n";

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  gennai: {
    script: [
      ...scriptedWork,
      bash("first", "FROBNICATE --all"),
      bash("again", "FROBNICATE --all"),
      bash("other", "mkfs /x"),
    ],
  },
  files: { ...scriptedFiles, ".pi/damage-control-rules.yaml": rules },
  settings: { "gennai.governance.intents": "off" },
}));

const item = () => workbench().page.locator("#nobody\\.gennai\\.gennai\\.rules, [id$='gennai.rules']");

test("Ping Server says who answered", async () => {
  await workbench().runCommand("Gennai: Ping Server");
  await workbench().notice(`${workbench().gennai.url} answered in`);
});

test("Show Log shows that, in an output channel", async () => {
  await workbench().runCommand("Gennai: Show Log");
  await workbench()
    .page.locator(".part.panel .view-lines")
    .getByText(`Ping ${workbench().gennai.url}`)
    .first()
    .waitFor();
});

test("Undo Last Change Set takes back what the agent wrote", async () => {
  const repl = await openRepl(workbench());
  await repl.send("change the sum");
  await repl.answer("yes");
  await repl.see("Changed as you asked.");
  expect(await workbench().workspace.read("src/add.ts")).toContain("a + b + 0");
  await workbench().runCommand("Gennai: Undo Last Change Set");
  await workbench().notice("Undone: src/add.ts");
  expect(await workbench().workspace.read("src/add.ts")).toBe(scriptedFiles["src/add.ts"]);
});

test("seed 001 opt-in: the setting about intents is in force in the session's workspace", async () => {
  await workbench().notice(/Intents: off, as your settings say/);
});

test("an emergency stop shows in the REPL and the status bar, and no turn starts", async () => {
  await workbench().runCommand("Gennai: Emergency: Stop All");
  const repl = await openRepl(workbench());
  await repl.root.getByText("everything is stopped: no turn starts").waitFor();
  await workbench().page.locator(".statusbar").getByText("everything is stopped").waitFor();
  await workbench().screenshot("emergency");
  await repl.send("explain this project");
  await repl.root.getByRole("alert").first().waitFor();
  expect(await repl.rows.getByText("What I found").count()).toBe(0);
});

test("lifting it needs a reason, and then work goes on", async () => {
  await workbench().runCommand("Gennai: Emergency: Lift a Control…");
  await workbench().pick("Stop All");
  const reason = workbench().page.locator(".quick-input-widget:visible input[type=text]");
  const title = workbench().page.getByText("Lift: Stop All");
  await title.waitFor();
  await reason.fill("The test goes on");
  // The editor takes no Enter before it has heard that what was typed will do.
  const accepted = async () => {
    if (await title.isVisible()) await reason.press("Enter", { timeout: 1_000 }).catch(() => undefined);
    return !(await title.isVisible());
  };
  await expect.poll(accepted, { interval: 300, timeout: patience }).toBe(true);
  await workbench().notice("Lifted: Stop All.");
  const repl = await openRepl(workbench());
  await repl.root.getByText("everything is stopped").waitFor({ state: "detached" });
  await repl.send("look at the sum");
  await repl.see("Looked.");
});

test("seed 000: RinaWarp's names do the same", async () => {
  await workbench().runCommand("RinaWarp: Open Panel");
  await shows(new ReplDriver(await workbench().webview("REPL")), "No plan yet.");
  await workbench().runCommand("RinaWarp: Ping Daemon");
  await workbench().notice(`${workbench().gennai.url} answered in`);
});

test("seed 004 §4 status, seed 004 §4 notifications: in the status bar's text, and once as a notification with its rule", async () => {
  const repl = await openRepl(workbench());
  await repl.openPanel("Chat");
  await item().getByLabel("🛡️ Damage-Control Active: 11 Rules").getByText("11").waitFor();
  await repl.send("first");
  await shows(repl, "Over: first.");
  await item().filter({ hasText: "⚠️ Last Violation: FROBNICATE --all" }).waitFor();
  await workbench().notice(/Damage-Control blocked Bash: FROBNICATE --all.*nobody knows what it does/);
  await item().getByLabel("🛡️ Damage-Control Active: 11 Rules").getByText("11").waitFor();

  await repl.send("again");
  await shows(repl, "Over: again.");
  await repl.send("other");
  await shows(repl, "Over: other.");
  await workbench().notice(/Damage-Control blocked Bash: mkfs/);
  expect(await workbench().page.locator(".notifications-center").getByText("FROBNICATE").count()).toBe(1);

  const first = workbench().page.locator(".notifications-center .notification-list-item", { hasText: "FROBNICATE" });
  await first.hover();
  await first.getByRole("button", { name: "Show rule" }).click();
  await workbench().page.getByRole("tab", { name: "damage-control-rules.yaml" }).waitFor();

  // The last violation is of a rule that is in no file.
  await workbench().runCommand("Gennai: Show Rule of the Last Violation");
  await workbench().page.getByRole("tab", { name: "damage-control.md" }).waitFor();
});
