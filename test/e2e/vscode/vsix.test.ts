import { inject, test } from "vitest";
import { openRepl } from "./repl-in-workbench.ts";
import { countsRows, shows } from "./repl-sight.ts";
import { useWorkbench } from "./use-workbench.ts";

const workbench = useWorkbench(() => ({
  // A release tries its own.
  vsix: process.env["GENNAI_TEST_VSIX"] ?? inject("vsix"),
  settings: { "gennai.editingMode": "proposal" },
  gennai: { script: [{ steps: [{ text: ["Hello from the package."] }] }] },
}));

test("the packaged extension installs where none was, activates, and answers a prompt", async () => {
  const repl = await openRepl(workbench());
  await repl.send("say hello");
  await shows(repl, "Hello from the package.");
  await repl.idle();
  await workbench()
    .page.getByRole("button", { name: /^Gennai: scripted/ })
    .waitFor();
  await workbench().screenshot("vsix");
  await countsRows(repl, "Hello from the package.", 1);
});
