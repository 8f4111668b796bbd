import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { showsTheme, type Workbench } from "./workbench.ts";

/** Where `npm run pictures` wants the documentation's pictures. */
const directory = process.env["GENNAI_PICTURES"];

/** What the extension's walkthrough shows beside its step "Ask for something". */
const walkthroughRepl = fileURLToPath(new URL("../../../../packages/vscode/walkthrough/repl.png", import.meta.url));

/** Below the activity bar's own: nothing there shows a hover. */
const nowhere = [25, 560] as const;

/**
 * Makes the pictures of the documentation, `vscode-NAME-light.png` and `vscode-NAME-dark.png`, if requested; otherwise one
 * picture for the test.
 */
export async function pictured(
  workbench: Workbench,
  name: string,
  /** The window, when it is another one than the first. */
  { page = workbench.page }: { readonly page?: Page } = {},
): Promise<void> {
  if (directory === undefined) {
    await workbench.screenshot(`journey ${name}`);
    return;
  }
  for (const scheme of ["light", "dark"] as const) {
    // What has the focus keeps it: no list is opened to choose from.
    await page.emulateMedia({ colorScheme: scheme });
    await showsTheme(page, scheme);
    // Where nothing shows a hover, and what fades has faded.
    await page.mouse.move(...nowhere);
    await page.waitForTimeout(700);
    const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
    await writeFile(join(directory, `vscode-${name}-${scheme}.png`), picture);
  }
}

/** Makes the walkthrough's picture of the REPL, the window's left side, where pictures are asked for. */
export async function picturedForWalkthrough({ page }: Workbench): Promise<void> {
  if (directory === undefined) return;
  await page.mouse.move(...nowhere);
  await page.waitForTimeout(700);
  const height = page.viewportSize()?.height ?? 800;
  const clip = { x: 0, y: 35, width: 350, height: height - 35 - 30 };
  await page.screenshot({ animations: "disabled", caret: "hide", clip, path: walkthroughRepl });
}
