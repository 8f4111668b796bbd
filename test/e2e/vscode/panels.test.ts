import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, inject, test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { serveGennai } from "../process/serve-gennai.ts";
import { patience, shows } from "./repl-sight.ts";
import { startWorkbench, type Workbench } from "./workbench.ts";

async function openRepl(workbench: Workbench): Promise<ReplDriver> {
  await workbench.runCommand("Gennai: Open REPL");
  return new ReplDriver(await workbench.webview("REPL"));
}

const propose = {
  match: "^propose",
  steps: [
    { tool: { name: "Read", args: { file_path: "list.txt" } } },
    {
      tool: {
        name: "ProposeChanges",
        args: { changes: [{ path: "list.txt", operation: "update", new_content: "one\n2\nthree\n" }] },
      },
    },
    { text: ["Proposed."] },
  ],
};

test("a proposal is looked at in the editor's own diff, applied, and taken back from the REPL", async () => {
  const old = "one\ntwo\nthree\n";
  await using workbench = await startWorkbench({
    files: { "list.txt": old },
    settings: { "gennai.editingMode": "proposal" },
    gennai: { script: [propose] },
  });
  const repl = await openRepl(workbench);
  await repl.send("propose a change");
  await shows(repl, "Proposed.");
  await repl.openPanel("Review");
  await repl.root.getByRole("button", { name: "Open diff of list.txt" }).click();
  await workbench.page.getByRole("tab", { name: /list\.txt \(proposed update\)/ }).waitFor({ timeout: patience });
  await workbench.page.locator(".monaco-diff-editor").first().waitFor();
  await workbench.screenshot("native diff");
  await repl.root.locator("article.hunk").getByRole("button", { name: "Keep" }).click();
  await repl.root.getByRole("button", { name: /^Apply 1 hunk/ }).click();
  await repl.root.getByRole("button", { name: "Apply now" }).click();
  await shows(repl, "Applied to 1 file.");
  expect(await workbench.workspace.read("list.txt")).toBe("one\n2\nthree\n");
  await repl.root.getByRole("button", { name: "Undo what was applied" }).click();
  await shows(repl, "What was applied is taken back.");
  expect(await workbench.workspace.read("list.txt")).toBe(old);
}, 180_000);

test("a plan is written, looked at, approved, executed and verified in its panel", async () => {
  await using workbench = await startWorkbench({ gennai: {} });
  await workbench.workspace.git("checkout", "--quiet", "-b", "ai-agent/plan");
  const repl = await openRepl(workbench);
  await repl.send("help");
  await repl.idle();
  await repl.openPanel("Plan");
  const panel = repl.root.getByRole("region", { name: "Plan" });
  await panel.getByRole("textbox", { name: "What is to be planned" }).fill("create one.txt with x");
  await panel.getByRole("button", { name: "Plan", exact: true }).click();
  await panel.getByRole("button", { name: "Preview" }).click({ timeout: patience });
  await panel.getByRole("button", { name: "Approve…" }).click({ timeout: patience });
  const approval = panel.locator(".plan-approval");
  for (const box of await approval.getByRole("checkbox").all()) await box.check();
  await workbench.screenshot("plan approval");
  await approval.getByRole("button", { name: "Approve", exact: true }).click();
  await expect(workbench.workspace.read("one.txt")).rejects.toThrow("ENOENT");
  await panel.getByRole("button", { name: "Execute" }).click({ timeout: patience });
  await panel.getByRole("button", { name: "Verify" }).click({ timeout: patience });
  await panel.locator('[aria-current="step"]').getByText("Done").waitFor({ timeout: patience });
  await workbench.screenshot("plan done");
  expect(await workbench.workspace.read("one.txt")).toBe("x\n");
}, 180_000);

test("a token in the settings is moved to the secret storage, and works from there", async () => {
  await using elsewhere = await temporaryDirectory();
  await using gennai = await serveGennai({
    stateDirectory: elsewhere.path("state"),
    script: [{ steps: [{ text: ["In."] }] }],
  });
  await using workbench = await startWorkbench({
    settings: {
      "gennai.serverPort": gennai.port,
      "gennai.authToken": gennai.token,
      "gennai.editingMode": "proposal",
    },
  });
  await workbench.runCommand("Gennai: Ping Server");
  await workbench.notice(/it was moved to the secret storage and removed there/);
  const settings = join(inject("codeServer").userData, "User", "settings.json");
  expect(await readFile(settings, "utf8")).not.toContain("authToken");
  await workbench.runCommand("Gennai: Ping Server");
  await workbench.notice(`${gennai.url} answered in`);
}, 180_000);
