import { chmod, rm } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { ReplDriver } from "../../browser/page/repl-driver.ts";
import { runningServers } from "../workbench/code-server/code-server.ts";
import { waitForNotification } from "../workbench/notification-center.ts";
import { patience } from "../workbench/patience.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";

const proposing = (path: string) => ({
  match: `^propose ${path}`,
  steps: [
    { tool: { name: "Read", args: { file_path: path } } },
    {
      tool: {
        name: "ProposeChanges",
        args: { changes: [{ path, operation: "update", new_content: "one\n2\nthree\n" }] },
      },
    },
    { text: [`Proposed ${path}.`] },
  ],
});

describe("in a workspace", () => {
  const old = "one\ntwo\nthree\n";
  /** Each test goes on where the one before it ended. */
  const workbench = useWorkbench(() => ({
    files: { "list.txt": old, "locked.txt": old },
    // The editor's script for bash takes it for one of its own that runs already.
    settings: { "terminal.integrated.env.linux": { VSCODE_SHELL_INTEGRATION: "1" } },
    gennai: {
      script: [
        proposing("list.txt"),
        proposing("locked.txt"),
        {
          match: "^run",
          steps: [{ tool: { name: "RunInTerminal", args: { command: "touch made.txt" } } }, { text: ["Was it run?"] }],
        },
        { match: ".", steps: [{ text: ["Here I am."] }] },
      ],
    },
  }));
  const question = () => workbench().page.locator(".quick-input-widget:visible .quick-input-title");
  const asks = (pattern: RegExp) => expect.poll(() => question().textContent(), { timeout: patience }).toMatch(pattern);

  /** Keeps all of one file and applies it. */
  async function apply(repl: ReplDriver, path: string): Promise<void> {
    await repl.send(`propose ${path}`);
    await shows(repl, `Proposed ${path}.`);
    await repl.openPanel("Review");
    await repl.root.locator("article.hunk").getByRole("button", { name: "Keep" }).click();
  }

  async function applyNow(repl: ReplDriver): Promise<void> {
    await repl.root.getByRole("button", { name: /^Apply 1 hunk/ }).click();
    await repl.root.getByRole("button", { name: "Apply now" }).click();
  }

  test("with changes that are not committed, the question says so, and no answer starts nothing", async () => {
    const { page, workspace } = workbench();
    const repl = await openRepl(workbench());
    await workspace.write("README.md", "# Mine\n");
    await repl.send("work on it");
    await asks(/You are on main with 1 file not committed. Where shall the agent work\?/);
    await workbench().screenshot("bad day not committed");
    await page.keyboard.press("Escape");
    await shows(repl, "Nothing was started: you chose no branch for the agent.");
    expect(await workspace.git("branch", "--show-current")).toBe("main");
  });

  test("whose file changed on disk during its review, nothing is applied", async () => {
    const { workspace } = workbench();
    const repl = await openRepl(workbench());
    await repl.useEditingMode("proposal");
    await apply(repl, "list.txt");
    // The message about the earlier prompt is no longer shown.
    expect(await repl.root.getByText("Nothing was started").count()).toBe(0);
    await workspace.write("list.txt", "somebody else was here\n");
    await applyNow(repl);
    await shows(repl, /Nothing was applied: list\.txt/);
    await repl.root.getByRole("button", { name: "Ask for the change again" }).waitFor();
    await workbench().screenshot("bad day changed file");
    expect(await workspace.read("list.txt")).toBe("somebody else was here\n");
    await repl.openPanel("Chat");
  });

  test("whose file is read-only, nothing is applied", async () => {
    const { workspace } = workbench();
    const repl = await openRepl(workbench());
    await chmod(workspace.path("locked.txt"), 0o444);
    await apply(repl, "locked.txt");
    await applyNow(repl);
    await shows(repl, /locked\.txt is read-only/);
    await shows(repl, /Make it writable, or leave this file out/);
    await workbench().screenshot("bad day read-only file");
    expect(await workspace.read("locked.txt")).toBe(old);
    await repl.openPanel("Chat");
  });

  test("whose shell does not report what it runs, nothing is typed", async () => {
    const repl = await openRepl(workbench());
    await workbench().workspace.git("switch", "--quiet", "--create", "ai-agent/run");
    await repl.useEditingMode("branch");
    await repl.send("run it");
    await repl.answer("Allow once");
    await shows(repl, "Was it run?");
    const call = repl.root.locator(".tool").filter({ hasText: "RunInTerminal" });
    await call.getByRole("button").first().click();
    await shows(repl, /does not report what it runs, so nothing was typed/);
    await shows(repl, /Run the command with Bash on the server/);
    await workbench().screenshot("bad day no shell integration");
    await expect(workbench().workspace.read("made.txt")).rejects.toThrow("ENOENT");
  });

  test("that is not a repository, Proposal Mode or a new repository is offered", async () => {
    await rm(workbench().workspace.path(".git"), { recursive: true });
    await workbench().reload();
    const repl = await openRepl(workbench());
    await repl.beginSession();
    await repl.useEditingMode("branch");
    await repl.send("work on it");
    await asks(/This folder is not a git repository/);
    await workbench().screenshot("bad day no repository");
    await workbench().pick("Use Proposal Mode");
    await shows(repl, "Here I am.");
  });
});

describe("in a workspace that is not trusted", () => {
  const workbench = useWorkbench(() => ({
    workspaceTrust: true,
    settings: {
      "security.workspace.trust.enabled": true,
      "security.workspace.trust.startupPrompt": "never",
    },
    machineSettings: { "gennai.autoLaunch": "always" },
  }));

  test("nothing is started, and the view says how to trust it", async () => {
    const { page } = workbench();
    await workbench().runCommand("Gennai: Open REPL");
    const notice = await workbench().webview("REPL");
    await notice.getByText("Gennai does nothing in a workspace that is not trusted").waitFor();
    await notice.getByRole("link", { name: "Manage Workspace Trust" }).waitFor();
    expect(await page.locator(".terminal-tabs-entry, .single-terminal-tab").count()).toBe(0);
    expect(await runningServers(workbench().server.gennaiState)).toEqual([]);
    await workbench().runCommand("Gennai: Ping Server");
    await waitForNotification(
      page,
      "Gennai does nothing in a workspace that is not trusted. Trust it to begin a session.",
    );
    await workbench().screenshot("bad day not trusted");
  });
});
