import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { runningServers } from "../workbench/code-server/code-server.ts";
import { writeUserSettings } from "../workbench/code-server/user-settings.ts";
import { openFile } from "../workbench/editor-pane.ts";
import { waitForNotification } from "../workbench/notification-center.ts";
import { runCommand } from "../workbench/palette.ts";
import { patience } from "../workbench/patience.ts";
import { pictured } from "../workbench/pictured.ts";
import { countsRows, shows } from "../workbench/repl-sight.ts";
import { hasStored } from "../workbench/stored-state.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { openWebview } from "../workbench/webview.ts";

const read = (file_path: string) => ({ tool: { name: "Read", args: { file_path } } });

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  files: { "notes.txt": "saved\n" },
  settings: { "gennai.showThinking": true },
  gennai: {
    script: [
      {
        match: "^look",
        steps: [{ thinking: ["The notes come first."] }, read("notes.txt"), { text: ["Looked."] }],
      },
      {
        match: "^slowly",
        steps: [
          { text: ["The first part. "] },
          { delay_ms: 4000 },
          read("README.md"),
          { delay_ms: 4000 },
          { text: ["The last part."] },
        ],
      },
      { match: "^say", steps: [{ text: ["Said."] }] },
    ],
  },
}));

async function repl(): Promise<ReplDriver> {
  return new ReplDriver(await workbench().webview("REPL"));
}

test("a first prompt on main asks for a branch; a reload before the answer keeps the prompt", async () => {
  const { page, workspace } = workbench();
  await workbench().runCommand("Gennai: Open REPL");
  await (await repl()).send("look around");
  await page.locator(".quick-input-widget:visible").getByText("Create ai-agent/look-around").waitFor();
  await expect.poll(() => hasStored(page, "look around"), { timeout: patience }).toBe(true);
  await workbench().reload();
  await expect.poll(async () => (await repl()).prompt.inputValue(), { timeout: patience }).toBe("look around");
  expect(await workspace.git("branch", "--show-current")).toBe("main");
});

test("a file is read as its editor shows it, not as it is on disk", async () => {
  const { page, workspace } = workbench();
  await openFile(page, "notes.txt");
  await page.keyboard.type("not saved yet ");
  await workbench().runCommand("Gennai: Open REPL");
  const driver = await repl();
  await driver.prompt.press("Enter");
  await workbench().pick("Create ai-agent/look-around");
  await shows(driver, "The notes come first.");
  await driver.root.getByRole("button", { name: /^Read/ }).click();
  await shows(driver, "not saved yet saved");
  await driver.idle();
  expect(await workspace.read("notes.txt")).toBe("saved\n");
  expect(await workspace.git("branch", "--show-current")).toBe("ai-agent/look-around");
});

test("a window that is reloaded in the middle of a turn loses nothing and doubles nothing", async () => {
  const before = await repl();
  await before.send("slowly now");
  await shows(before, "The first part.");
  await workbench().reload();
  const driver = await repl();
  await shows(driver, "The last part.");
  await driver.idle();
  await countsRows(driver, "The first part.", 1);
  await countsRows(driver, "The last part.", 1);
  await countsRows(driver, "slowly now", 1);
  expect((await driver.toolCalls()).at(-1)).toBe("Read done");
});

test("of two windows on a workspace one works, and the other watches until it is told to take over", async () => {
  const { page: first } = workbench();
  const owner = await repl();
  await owner.send("say something");
  await shows(owner, "Said.");
  await owner.idle();

  await using second = await workbench().another({ folder: workbench().workspace.root });
  await runCommand(second, "Gennai: Open REPL");
  const watcher = new ReplDriver(await openWebview(second, "REPL"));
  await shows(watcher, "Said.");
  await second.getByRole("button", { name: /^Gennai: watching/ }).waitFor();

  await watcher.send("say it here");
  await shows(watcher, /Another window works on this workspace/);
  expect(await owner.rows.filter({ hasText: "say it here" }).count()).toBe(0);

  await pictured(workbench(), "watching", { page: second });
  await watcher.root.getByRole("button", { name: "Take over" }).first().click();
  await second.getByRole("button", { name: /^Gennai: watching/ }).waitFor({ state: "detached" });
  await first.getByRole("button", { name: /^Gennai: watching/ }).waitFor();
  await watcher.send("say more");
  await countsRows(watcher, "Said.", 2);
  // The first window goes on seeing everything.
  await countsRows(owner, "say more", 1);
});

test("of several folders in a window one is worked on, which the view says, with a way to another", async () => {
  await using place = await temporaryDirectory({ "front/a.txt": "", "back/b.txt": "" });
  const folders = [{ path: "front" }, { path: "back" }];
  await place.write("shop.code-workspace", JSON.stringify({ folders }));
  await using window = await workbench().another({ workspace: place.path("shop.code-workspace") });
  const repl = await openIn(window, /^Choose another/);
  await shows(repl, /front/);
  await pictured(workbench(), "folders", { page: window });
});

test("a window without a folder says that it needs one, and opens the choice", async () => {
  await using window = await workbench().another({ ew: "true" });
  const repl = await openIn(window, "Open folder");
  const banner = repl.root.locator(".banner").filter({ hasText: "Gennai works on a folder on disk." });
  const step = banner.getByRole("button", { name: "Open folder" });
  await step.waitFor();
  // It stays while the app tries again: a server could not be started here.
  await shows(repl, "What shall be done?");
  expect(await banner.getByRole("button").allTextContents()).toEqual(["Open folder"]);
  await pictured(workbench(), "no-folder", { page: window });
  await step.click();
  await window.locator(".quick-input-widget:visible").getByText("Open Folder").first().waitFor();
});

test("in a folder that is not trusted nothing is started, and the view says how to trust it", async () => {
  const { server } = workbench();
  await writeUserSettings(server, {
    settings: { "security.workspace.trust.enabled": true, "security.workspace.trust.startupPrompt": "never" },
    machineSettings: { "gennai.autoLaunch": "always" },
  });
  const before = await runningServers(server.gennaiState);
  await using place = await temporaryDirectory({ "a.txt": "" });
  await using window = await workbench().another({ folder: place.root });
  await runCommand(window, "Gennai: Open REPL");
  const notice = await openWebview(window, "REPL");
  await notice.getByText("Gennai does nothing in a workspace that is not trusted").waitFor();
  await notice.getByRole("link", { name: "Manage Workspace Trust" }).waitFor();
  await runCommand(window, "Gennai: Ping Server");
  await waitForNotification(
    window,
    "Gennai does nothing in a workspace that is not trusted. Trust it to begin a session.",
  );
  expect(await window.locator(".terminal-tabs-entry, .single-terminal-tab").count()).toBe(0);
  expect(await runningServers(server.gennaiState)).toEqual(before);
});

/**
 * Opens the REPL of another window, and waits until it has the button. The view is looked for again: extensions that started before the
 * window had its folders start anew.
 */
async function openIn(page: Page, button: string | RegExp): Promise<ReplDriver> {
  await runCommand(page, "Gennai: Open REPL");
  const deadline = Date.now() + patience;
  for (;;) {
    const repl = new ReplDriver(await openWebview(page, "REPL"));
    try {
      await repl.root
        .getByRole("button", { name: button })
        .first()
        .waitFor({ timeout: patience / 10 });
      return repl;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}
