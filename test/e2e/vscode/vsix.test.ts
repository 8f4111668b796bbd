import { inject, test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { startCodeServer } from "./code-server.ts";
import { countsRows, shows } from "./repl-sight.ts";
import { startWorkbench } from "./workbench.ts";

test("the packaged extension installs where none was, activates, and answers a prompt", async () => {
  await using server = await startCodeServer(inject("codeServerProgram"), { vsix: [inject("vsix")] });
  await using workbench = await startWorkbench({
    server,
    settings: { "gennai.editingMode": "proposal" },
    gennai: { script: [{ steps: [{ text: ["Hello from the package."] }] }] },
  });
  await workbench.runCommand("Gennai: Open REPL");
  const repl = new ReplDriver(await workbench.webview("REPL"));
  await repl.send("say hello");
  await shows(repl, "Hello from the package.");
  await repl.idle();
  await workbench.page.getByRole("button", { name: /^Gennai: scripted/ }).waitFor();
  await workbench.screenshot("vsix");
  await countsRows(repl, "Hello from the package.", 1);
}, 180_000);
