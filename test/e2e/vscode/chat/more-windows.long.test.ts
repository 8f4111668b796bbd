import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { errors, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { ReplDriver } from "../../browser/page/repl-driver.ts";
import { runCommand } from "../workbench/palette.ts";
import { patience } from "../workbench/patience.ts";
import { pictured } from "../workbench/pictured.ts";
import { countsRows, shows } from "../workbench/repl-sight.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { openWebview } from "../workbench/webview.ts";

const workbench = useWorkbench(() => ({
  files: {},
  gennai: { script: [{ match: "^say", steps: [{ text: ["Said."] }] }] },
}));

async function repl(): Promise<ReplDriver> {
  return new ReplDriver(await workbench().webview("REPL"));
}

test("of two windows on a workspace one works, and the other watches until it is told to take over", async () => {
  const { page: first } = workbench();
  await workbench().runCommand("Gennai: Open REPL");
  const owner = await repl();
  await owner.send("say something");
  await shows(owner, "Said.");
  await owner.idle();

  await using second = await workbench().another({ folder: workbench().workspace.root });
  const watcher = await openIn(second, "Take over");
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
  await shows(repl, "What should be done?");
  expect(await banner.getByRole("button").allTextContents()).toEqual(["Open folder"]);
  await pictured(workbench(), "no-folder", { page: window });
  await step.click();
  await window.locator(".quick-input-widget:visible").getByText("Open Folder").first().waitFor();
});

/**
 * Opens the REPL of another window, and waits until it has the button. The view is opened again: extensions that started before the
 * window had its folders start anew, and may take the view along.
 */
async function openIn(page: Page, button: string | RegExp): Promise<ReplDriver> {
  for (;;) {
    await runCommand(page, "Gennai: Open REPL");
    const repl = new ReplDriver(await openWebview(page, "REPL"));
    try {
      await repl.root
        .getByRole("button", { name: button })
        .first()
        .waitFor({ timeout: patience / 10 });
      return repl;
    } catch (error) {
      if (!(error instanceof errors.TimeoutError)) throw error;
    }
  }
}
