import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { patience } from "../workbench/patience.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const workbench = useWorkbench(() => ({
  gennai: { script: [{ steps: [{ text: ["Hello from the script."] }] }] },
}));

async function repl(): Promise<ReplDriver> {
  return new ReplDriver(await workbench().webview("REPL"));
}

test("the palette opens the REPL, with a place to type", async () => {
  await workbench().runCommand("Gennai: Open REPL");
  await (await repl()).prompt.waitFor();
});

test("a first prompt on main asks for a branch; a reload before it is answered keeps the prompt", async () => {
  const on = await repl();
  await on.send("Say hello");
  await workbench().page.locator(".quick-input-widget:visible").getByText("Create ai-agent/say-hello").waitFor();
  // What extensions keep is written after a moment.
  await wait(2000);
  await workbench().reload();
  await expect.poll(async () => (await repl()).prompt.inputValue(), { timeout: patience }).toBe("Say hello");
  expect(await workbench().workspace.git("branch", "--show-current")).toBe("main");
});

test("a branch is chosen, and the prompt is answered in the REPL", async () => {
  const on = await repl();
  await on.prompt.press("Enter");
  await workbench().pick("Create ai-agent/say-hello");
  await on.see("Hello from the script.");
  expect(await workbench().workspace.git("branch", "--show-current")).toBe("ai-agent/say-hello");
});

test("the REPL survives a reload of the window", async () => {
  await workbench().reload();
  const on = await repl();
  await on.see("Hello from the script.");
  expect(await on.rows.filter({ hasText: "Hello from the script." }).count()).toBe(1);
});
