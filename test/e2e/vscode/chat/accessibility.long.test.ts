import { beforeAll, expect, test } from "vitest";
import type { ReplDriver } from "../../browser/page/repl-driver.ts";
import { accessibilityProblems } from "../../look/accessibility.ts";
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

// What little room changes is the same on the page, and seen there.
test.for(sights)("everybody can use $name in VS Code, in every theme", async ({ name, show, leave }) => {
  await show(repl, workbench().gennai);
  const found: string[] = [];
  for (const theme of everyTheme) {
    await putOn(theme);
    await workbench().screenshot(`everybody vscode ${theme} ${name}`);
    for (const problem of await accessibilityProblems(repl)) found.push(`${theme}: ${problem}`);
  }
  await leave?.(repl);
  expect(found, found.join("\n")).toEqual([]);
});
