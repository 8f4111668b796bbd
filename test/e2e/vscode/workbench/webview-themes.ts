import type { ReplDriver } from "../../browser/page/repl-driver.ts";
import { everyTheme, type Theme, type Workbench } from "./workbench.ts";

/** What VS Code hands a webview of a theme: its colours, and which kind it is. */
interface HandedTheme {
  /** The `style` of the document's root: a variable a colour. */
  readonly style: string;
  readonly bodyClass: string;
  readonly bodyData: readonly (readonly [string, string])[];
}

/**
 * Switches the workbench to each theme once, and keeps what the REPL's document was handed. Gives a function that puts a theme on
 * again as VS Code does, in no time.
 */
export async function recordThemes(workbench: Workbench, repl: ReplDriver): Promise<(theme: Theme) => Promise<void>> {
  const root = repl.root.locator("html");
  const handed = new Map<Theme, HandedTheme>();
  for (const theme of everyTheme) {
    await workbench.useTheme(theme);
    handed.set(
      theme,
      await root.evaluate((html) => ({
        style: html.getAttribute("style") ?? "",
        bodyClass: html.ownerDocument.body.className,
        bodyData: Object.entries(html.ownerDocument.body.dataset).map(([name, value]) => [name, value ?? ""] as const),
      })),
    );
  }
  return async (theme) => {
    const wanted = handed.get(theme);
    if (wanted === undefined) throw new Error(`The theme "${theme}" was not recorded.`);
    await root.evaluate((html, { style, bodyClass, bodyData }) => {
      html.setAttribute("style", style);
      const { body } = html.ownerDocument;
      body.className = bodyClass;
      for (const [name, value] of bodyData) body.dataset[name] = value;
    }, wanted);
  };
}
