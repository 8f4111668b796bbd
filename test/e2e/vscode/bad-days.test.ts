import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, inject, test } from "vitest";
import { ReplDriver } from "../browser/repl-driver.ts";
import { serveGennai } from "../process/serve-gennai.ts";
import { startCodeServer } from "./code-server.ts";
import { waitForNotification } from "./notification-center.ts";
import { patience, shows } from "./repl-sight.ts";
import { startWorkbench, type Workbench } from "./workbench.ts";

const answer = [{ match: ".", steps: [{ text: ["Here I am."] }] }];

async function openRepl(workbench: Workbench): Promise<ReplDriver> {
  await workbench.runCommand("Gennai: Open REPL");
  return new ReplDriver(await workbench.webview("REPL"));
}

/** A program that knows nothing of Gennai. Port 0: a free one. */
async function stranger(port: number): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((_request, response) => response.end("<h1>It works!</h1>")).listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("no server, then a stranger on its port, then a server whose token nobody knows here", async () => {
  await using elsewhere = await temporaryDirectory();
  const free = await stranger(0);
  const { port } = free;
  await free[Symbol.asyncDispose]();
  await using workbench = await startWorkbench({
    settings: { "gennai.serverPort": port, "gennai.editingMode": "proposal" },
    machineSettings: { "gennai.autoLaunch": "never" },
  });
  const { page } = workbench;

  const repl = await openRepl(workbench);
  await shows(repl, `No Gennai server answers at http://127.0.0.1:${port}. Start it, or set gennai.serverPort`);
  await repl.root.getByRole("button", { name: "Start server" }).first().waitFor();
  await workbench.screenshot("bad day no server");

  {
    await using _taken = await stranger(port);
    await workbench.runCommand("Gennai: Ping Server");
    await waitForNotification(page, /another program took the port.*choose another port in gennai.serverPort/s);
  }

  await using gennai = await serveGennai({
    stateDirectory: elsewhere.path("state"),
    workspace: workbench.workspace,
    script: answer,
    port,
  });
  await shows(repl, /asks for its token/);
  const typeToken = async (token: string) => {
    await workbench.runCommand("Gennai: Set Server Token…");
    const box = page.locator(".quick-input-widget:visible input[type=password]");
    await box.fill(token);
    await box.press("Enter");
  };
  await typeToken("a-token-that-is-wrong");
  await shows(repl, /knows another token than this window. Enter the one it was started with/);
  await typeToken(gennai.token);
  await repl.send("are you there?");
  await shows(repl, "Here I am.");
}, 180_000);

test("a folder that is no repository, and one with changes that are not committed", async () => {
  await using workbench = await startWorkbench({ gennai: { script: answer } });
  const { page, workspace } = workbench;
  const repl = await openRepl(workbench);
  await workspace.write("README.md", "# Mine\n");
  await repl.send("work on it");
  const title = page.locator(".quick-input-widget:visible .quick-input-title");
  await expect
    .poll(() => title.textContent(), { timeout: patience })
    .toMatch(/You are on main with 1 file not committed. Where shall the agent work\?/);
  await page.keyboard.press("Escape");
  await shows(repl, "Nothing was started: you chose no branch for the agent.");
  expect(await workspace.git("branch", "--show-current")).toBe("main");

  await rm(workspace.path(".git"), { recursive: true });
  await workbench.reload();
  const again = await openRepl(workbench);
  await again.send("work on it");
  await expect.poll(() => title.textContent(), { timeout: patience }).toMatch(/This folder is no git repository/);
  await workbench.pick("Use Proposal Mode");
  await shows(again, "Here I am.");
}, 180_000);

test("a file that changes on disk while its proposal is reviewed", async () => {
  const old = "one\ntwo\nthree\n";
  await using workbench = await startWorkbench({
    files: { "list.txt": old },
    settings: { "gennai.editingMode": "proposal" },
    gennai: {
      script: [
        {
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
        },
        ...answer,
      ],
    },
  });
  const repl = await openRepl(workbench);
  await repl.send("propose a change");
  await shows(repl, "Proposed.");
  await repl.openPanel("Review");
  await repl.root.locator("article.hunk").getByRole("button", { name: "Keep" }).click();
  await workbench.workspace.write("list.txt", "somebody else was here\n");
  await repl.root.getByRole("button", { name: /^Apply 1 hunk/ }).click();
  await repl.root.getByRole("button", { name: "Apply now" }).click();
  await shows(repl, /Nothing was applied: list\.txt/);
  await repl.root.getByRole("button", { name: "Ask for the change again" }).waitFor();
  await workbench.screenshot("bad day changed file");
  expect(await workbench.workspace.read("list.txt")).toBe("somebody else was here\n");
}, 180_000);

test("in a workspace that is not trusted nothing is started, and the view says how to trust it", async () => {
  await using server = await startCodeServer(inject("codeServerProgram"), {
    vsix: [inject("vsix")],
    workspaceTrust: true,
  });
  await using workbench = await startWorkbench({
    server,
    settings: {
      "security.workspace.trust.enabled": true,
      "security.workspace.trust.startupPrompt": "never",
    },
    machineSettings: { "gennai.autoLaunch": "always" },
    gennai: { script: answer },
  });
  const { page } = workbench;
  await workbench.runCommand("Gennai: Open REPL");
  const notice = await workbench.webview("REPL");
  await notice.getByText("Gennai does nothing in a workspace that is not trusted").waitFor();
  await notice.getByRole("link", { name: "Manage Workspace Trust" }).waitFor();
  expect(await page.locator(".terminal-tabs-entry, .single-terminal-tab").count()).toBe(0);
  await workbench.runCommand("Gennai: Ping Server");
  await waitForNotification(
    page,
    "Gennai does nothing in a workspace that is not trusted. Trust it to begin a session.",
  );
  await workbench.screenshot("bad day not trusted");
}, 180_000);
