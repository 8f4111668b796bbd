import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { rememberAnswers, takeBackInPanel } from "../../governance/answers/remembered-answers.ts";
import { planOneFile } from "../workbench/plan-in-workbench.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useGennai } from "../workbench/use-gennai.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

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

describe("a proposal", () => {
  const old = "one\ntwo\nthree\n";
  const workbench = useWorkbench(() => ({
    files: { "list.txt": old },
    settings: { "gennai.editingMode": "proposal" },
    gennai: { script: [propose] },
  }));

  test("is looked at in the editor's own diff, applied, and taken back from the REPL", async () => {
    const repl = await openRepl(workbench());
    await repl.send("propose a change");
    await shows(repl, "Proposed.");
    await repl.openPanel("Review");
    await repl.root.getByRole("button", { name: "Open diff of list.txt" }).click();
    await workbench()
      .page.getByRole("tab", { name: /list\.txt \(proposed update\)/ })
      .waitFor();
    await workbench().page.locator(".monaco-diff-editor").first().waitFor();
    await workbench().screenshot("native diff");
    await repl.root.locator("article.hunk").getByRole("button", { name: "Keep" }).click();
    await repl.root.getByRole("button", { name: /^Apply 1 hunk/ }).click();
    await repl.root.getByRole("button", { name: "Apply now" }).click();
    await shows(repl, "Applied to 1 file.");
    expect(await workbench().workspace.read("list.txt")).toBe("one\n2\nthree\n");
    await repl.root.getByRole("button", { name: "Undo what was applied" }).click();
    await shows(repl, "What was applied is taken back.");
    expect(await workbench().workspace.read("list.txt")).toBe(old);
  });
});

describe("a plan", () => {
  const workbench = useWorkbench(() => ({ gennai: {} }));

  test("is written, looked at, approved, executed and verified in its panel", async () => {
    const panel = await planOneFile(workbench(), "help");
    const approval = panel.locator(".plan-approval");
    for (const box of await approval.getByRole("checkbox").all()) await box.check();
    await workbench().screenshot("plan approval");
    await approval.getByRole("button", { name: "Approve", exact: true }).click();
    await expect(workbench().workspace.read("one.txt")).rejects.toThrow("ENOENT");
    await panel.getByRole("button", { name: "Execute" }).click();
    await panel.getByRole("button", { name: "Verify" }).click();
    await panel.locator('[aria-current="step"]').getByText("Done").waitFor();
    await workbench().screenshot("plan done");
    expect(await workbench().workspace.read("one.txt")).toBe("x\n");
  });
});

describe("answers that stand", () => {
  const workbench = useWorkbench(() => ({ gennai: {} }));

  test("are seen in their panel, and taken back one by one or all at once", async () => {
    const { server, workspace } = workbench();
    const place = { stateDir: server.gennaiState, workspaceRoot: workspace.root };
    await rememberAnswers(place);
    await takeBackInPanel(await openRepl(workbench()), place, () => workbench().screenshot("answers that stand"));
  });
});

describe("a token in the settings", () => {
  const elsewhere = useGennai();
  const workbench = useWorkbench(() => ({
    settings: { "gennai.serverPort": elsewhere().port, "gennai.authToken": elsewhere().token },
  }));

  test("is moved to the secret storage, and works from there", async () => {
    await workbench().runCommand("Gennai: Ping Server");
    await workbench().notice(/it was moved to the secret storage and removed there/);
    const settings = join(workbench().server.userData, "User", "settings.json");
    expect(await readFile(settings, "utf8")).not.toContain("authToken");
    await workbench().runCommand("Gennai: Ping Server");
    await workbench().notice(`${elsewhere().url} answered in`);
  });
});
