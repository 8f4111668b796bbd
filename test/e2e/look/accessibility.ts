import axe from "axe-core";
import type { ReplDriver } from "../browser/page/repl-driver.ts";
import { lostText } from "./lost-text.ts";

/** WCAG 2.2, A and AA, and what axe knows as good practice: the order of headings, landmarks. */
const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/**
 * What keeps people from using what the REPL shows, one line each: what axe finds, and text that cannot be read whole. Run inside
 * the REPL's own document, so that a webview two frames deep is looked at like a page.
 */
export async function accessibilityProblems(repl: ReplDriver): Promise<readonly string[]> {
  const frame = await (await repl.root.locator("#app").elementHandle())?.ownerFrame();
  if (frame === null || frame === undefined) throw new Error("The REPL is in no document.");
  if (!(await frame.evaluate(() => "axe" in globalThis))) await frame.evaluate(axe.source);
  const { violations } = await frame.evaluate((values) => {
    const { axe: inside } = globalThis as unknown as { axe: typeof axe };
    inside.configure({
      rules: [
        {
          id: "article-name",
          selector: '[role="article"]',
          any: ["aria-label", "aria-labelledby"],
          tags: ["best-practice"],
          metadata: { description: "Articles of a feed have names", help: "A feed's articles have names", helpUrl: "" },
        },
      ],
    });
    return inside.run(document, { runOnly: { type: "tag", values }, resultTypes: ["violations"] });
  }, tags);
  const found = violations.map(({ id, nodes }) => {
    const [first] = nodes;
    const why = [...(first?.any ?? []), ...(first?.all ?? []), ...(first?.none ?? [])].map(({ message }) => message);
    return `${id}, ${nodes.length} times: ${first?.html.slice(0, 160)}: ${why.join("; ")}`;
  });
  return [...found, ...(await frame.evaluate(lostText))];
}
