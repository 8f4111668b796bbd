import { expect, test } from "vitest";
import { useWorkbench } from "./use-workbench.ts";
import { everyTheme } from "./workbench.ts";

const workbench = useWorkbench(() => ({
  gennai: { script: [{ steps: [{ text: ["Hello from the script."] }] }] },
}));

test("the palette opens the REPL, with a place to type", async () => {
  await workbench().runCommand("Gennai: Open REPL");
  const repl = await workbench().webview("REPL");
  await repl.getByRole("textbox").first().waitFor();
});

test("a first prompt on main asks for a branch, and is answered in the REPL", async () => {
  const repl = await workbench().webview("REPL");
  await repl.getByRole("textbox").first().fill("Say hello");
  await repl.getByRole("textbox").first().press("Enter");
  await workbench().pick("Create ai-agent/say-hello");
  await repl.getByText("Hello from the script.").waitFor();
  expect(await workbench().workspace.git("branch", "--show-current")).toBe("ai-agent/say-hello");
});

test("the REPL survives a reload of the window", async () => {
  await workbench().reload();
  const repl = await workbench().webview("REPL");
  await repl.getByText("Hello from the script.").waitFor();
  expect(await repl.getByText("Hello from the script.").count()).toBe(1);
});

test.for(everyTheme)("the REPL in a %s theme", async (theme) => {
  await workbench().useTheme(theme);
  const repl = await workbench().webview("REPL");
  await repl.getByText("Hello from the script.").waitFor();
  await workbench().screenshot(`repl ${theme}`);
});
