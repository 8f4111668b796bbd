import { expect, test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { useWorkbench } from "./use-workbench.ts";
import { everyTheme } from "./workbench.ts";

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

test("a first prompt on main asks for a branch, and is answered in the REPL", async () => {
  const on = await repl();
  await on.send("Say hello");
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

test.for(everyTheme)("the REPL in a %s theme", async (theme) => {
  await workbench().useTheme(theme);
  await (await repl()).see("Hello from the script.");
  await workbench().screenshot(`repl ${theme}`);
});
