import { expect, test } from "vitest";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const bash = (match: string, command: string) => ({
  match,
  steps: [{ tool: { name: "Bash", args: { command } } }, { text: [`Over: ${match}.`] }],
});
const rules = "bashToolPatterns:\n  - pattern: frobnicate\n    reason: nobody knows what it does\n";
const workbench = useWorkbench(() => ({
  files: { ".pi/damage-control-rules.yaml": rules },
  gennai: { script: [bash("first", "FROBNICATE --all"), bash("again", "FROBNICATE --all"), bash("other", "mkfs /x")] },
}));
const item = () => workbench().page.locator("#nobody\\.gennai\\.gennai\\.rules, [id$='gennai.rules']");

test("seed 004 §4 status, seed 004 §4 notifications: in the status bar's text, and once as a notification with its rule", async () => {
  const repl = await openRepl(workbench());
  await item().filter({ hasText: "🛡️ Damage-Control Active: 11 Rules" }).waitFor();
  await repl.send("first");
  await workbench().pick("Create ai-agent/first");
  await shows(repl, "Over: first.");
  await item().filter({ hasText: "⚠️ Last Violation: FROBNICATE --all" }).waitFor();
  await workbench().screenshot("damage control blocked");
  await workbench().notice(/Damage-Control blocked Bash: FROBNICATE --all.*nobody knows what it does/);
  await item().filter({ hasText: "🛡️ Damage-Control Active: 11 Rules" }).waitFor();

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
  await workbench().screenshot("damage control rule");

  // The last violation is of a rule that is in no file.
  await workbench().runCommand("Gennai: Show Rule of the Last Violation");
  await workbench().page.getByRole("tab", { name: "damage-control.md" }).waitFor();
});
