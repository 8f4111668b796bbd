import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import UPNG from "upng-js";
import { showsTheme, type Theme, type Workbench } from "./workbench.ts";

/** Where `npm run pictures` wants the documentation's pictures. */
const directory = process.env["GENNAI_PICTURES"];
/** Few enough colours for a small file, and more than a window of VS Code makes one see. */
const colours = 192;

export interface PictureOptions {
  /** The window, when it is another one than the first. */
  readonly page?: Page;
  /** Only what this shows. */
  readonly of?: Locator;
  /** Light and dark, unless said otherwise; the name ends with it. */
  readonly themes?: readonly Theme[];
}

/**
 * Makes the pictures of the documentation, `vscode-NAME-light.png` and `vscode-NAME-dark.png`, where they are asked for; else one picture of
 * the test's own, as it stands.
 */
export async function pictured(
  workbench: Workbench,
  name: string,
  { page = workbench.page, of, themes = ["light", "dark"] }: PictureOptions = {},
): Promise<void> {
  if (directory === undefined) {
    await workbench.screenshot(`journey ${name}`);
    return;
  }
  for (const theme of themes) {
    // What has the focus keeps it: no list is opened to choose from.
    if (theme === "light" || theme === "dark") await page.emulateMedia({ colorScheme: theme });
    else await workbench.useTheme(theme);
    await showsTheme(page, theme);
    // Where nothing shows a hover, and what fades has faded.
    await page.mouse.move(800, 740);
    await page.waitForTimeout(700);
    const picture = await (of ?? page).screenshot({ animations: "disabled", caret: "hide" });
    await writeFile(join(directory, `vscode-${name}-${theme.replaceAll(" ", "-")}.png`), small(picture));
  }
}

function small(png: Uint8Array): Uint8Array {
  const image = UPNG.decode(new Uint8Array(png).buffer);
  return new Uint8Array(UPNG.encode(UPNG.toRGBA8(image), image.width, image.height, colours));
}
