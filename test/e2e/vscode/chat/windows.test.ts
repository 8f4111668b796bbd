import { call } from "@gennai/testkit/scripted-steps";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { runningServers } from "../workbench/code-server/code-server.ts";
import { writeUserSettings } from "../workbench/code-server/user-settings.ts";
import { openFile } from "../workbench/editor-pane.ts";
import { waitForNotification } from "../workbench/notification-center.ts";
import { runCommand } from "../workbench/palette.ts";
import { patience } from "../workbench/patience.ts";
import { countsRows, shows } from "../workbench/repl-sight.ts";
import { hasStored } from "../workbench/stored-state.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { openWebview } from "../workbench/webview.ts";

const read = (file_path: string) => call("Read", { file_path });

/** Each test goes on where the one before it ended. */
const workbench = useWorkbench(() => ({
  files: { "notes.txt": "saved\n" },
  settings: { "gennai.showThinking": true },
  gennai: {
    script: [
      { match: "^look", steps: [{ thinking: ["The notes come first."] }, read("notes.txt"), { text: ["Looked."] }] },
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
    ],
  },
}));

async function repl(): Promise<ReplDriver> {
  return new ReplDriver(await workbench().webview("REPL"));
}

test("a reload keeps a prompt that is being written", async () => {
  const { page } = workbench();
  await workbench().runCommand("Gennai: Open REPL");
  await (await repl()).prompt.fill("look around");
  await expect.poll(() => hasStored(page, "look around"), { timeout: patience }).toBe(true);
  await workbench().reload();
  await expect.poll(async () => (await repl()).prompt.inputValue(), { timeout: patience }).toBe("look around");
});

test("a file is read as its editor shows it, not as it is on disk, with nothing asked about git", async () => {
  const { page, workspace } = workbench();
  await openFile(page, "notes.txt");
  await page.keyboard.type("not saved yet ");
  await workbench().runCommand("Gennai: Open REPL");
  const driver = await repl();
  await driver.prompt.press("Enter");
  await shows(driver, "The notes come first.");
  await driver.root.getByRole("button", { name: /^Read/ }).click();
  await shows(driver, "not saved yet saved");
  await driver.idle();
  expect(await workspace.read("notes.txt")).toBe("saved\n");
  expect(await workspace.git("branch", "--show-current")).toBe("main");
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
