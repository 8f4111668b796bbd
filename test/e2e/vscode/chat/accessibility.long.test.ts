import { beforeAll, expect, test } from "vitest";
import type { ReplDriver } from "../../browser/page/repl-driver.ts";
import { accessibilityProblems } from "../../look/accessibility.ts";
import { littleRoom } from "../../look/little-room.ts";
import { sightArgs, sightFiles, sightScript } from "../../look/sight-script.ts";
import { sights } from "../../look/sights.ts";
import { openRepl } from "../workbench/repl-in-workbench.ts";
import { useWorkbench } from "../workbench/use-workbench.ts";
import { recordThemes } from "../workbench/webview-themes.ts";
import { everyTheme, type Theme } from "../workbench/workbench.ts";

const workbench = useWorkbench(() => ({
  gennai: { args: sightArgs, script: sightScript },
  files: sightFiles,
  settings: { "gennai.showThinking": true },
}));

let repl: ReplDriver;
let putOn: (theme: Theme) => Promise<void>;

/** One session comes by all sights, on a branch of the agent's. */
beforeAll(async () => {
  await workbench().workspace.git("checkout", "--quiet", "-b", "ai-agent/sights");
  await workbench().page.setViewportSize({ width: 1280, height: 1400 });
  repl = await openRepl(workbench());
  putOn = await recordThemes(workbench(), repl);
});

test.for(sights)("everybody can use $name in VS Code, in every theme and in little room", async (sight) => {
  const { name, show, leave } = sight;
  await show(repl, workbench().gennai);
  const found: string[] = [];
  for (const theme of everyTheme) {
    await putOn(theme);
    await workbench().screenshot(`everybody vscode ${theme} ${name}`);
    for (const problem of await accessibilityProblems(repl)) found.push(`${theme}: ${problem}`);
  }
  // What room changes is the same in all themes: each has its turn.
  for (const [place, room] of littleRoom.entries()) {
    const theme = everyTheme[(sights.indexOf(sight) + place) % everyTheme.length] ?? "dark";
    await putOn(theme);
    await using _narrow = await giveRoom(room);
    await workbench().screenshot(`everybody vscode ${room.name} ${name}`);
    for (const problem of await accessibilityProblems(repl)) found.push(`${room.name}, ${theme}: ${problem}`);
  }
  await leave?.(repl);
  expect(found, found.join("\n")).toEqual([]);
});

/** Makes the REPL's view as small as that, as a person who drags it or zooms the window. */
async function giveRoom({ width, height }: { width: number; height: number }): Promise<AsyncDisposable> {
  const view = workbench().page.locator("iframe.webview.ready");
  const before = await view.evaluate((frame) => frame.getAttribute("style") ?? "");
  await view.evaluate((frame, style) => frame.setAttribute("style", style), `width: ${width}px; height: ${height}px;`);
  const root = repl.root.locator("html");
  await expect.poll(() => root.evaluate((html) => html.ownerDocument.defaultView?.innerWidth)).toBe(width);
  // Where a question's answers stick to the lower edge, something is always half behind them, but for the end of the page.
  await repl.root.locator(".app").evaluate((app) => app.scrollTo({ top: app.scrollHeight, behavior: "instant" }));
  return {
    async [Symbol.asyncDispose]() {
      await view.evaluate((frame, style) => frame.setAttribute("style", style), before);
      await expect.poll(() => root.evaluate((html) => html.ownerDocument.defaultView?.innerWidth)).not.toBe(width);
    },
  };
}
