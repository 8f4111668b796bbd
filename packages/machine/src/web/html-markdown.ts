/** URL of this very module, also as a chunk of a bundle: a worker imports it. */
export const htmlMarkdownModule: string = import.meta.url;

/**
 * An HTML page as markdown, without what no reader of it sees. Called in a worker, by name.
 * @public
 */
export async function htmlMarkdown(html: string): Promise<string> {
  const { default: TurndownService } = await import("turndown");
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.remove(["script", "style", "noscript", "iframe", "form", "nav", "footer"]);
  // Elements that no reader sees are not part of the page's text.
  service.addRule("hidden", {
    filter: (node: SeenElement) =>
      node.hasAttribute("hidden") ||
      node.getAttribute("aria-hidden") === "true" ||
      /display:\s*none|visibility:\s*hidden/i.test(node.getAttribute("style") ?? ""),
    replacement: () => "",
  });
  return service.turndown(html);
}

/** The members of an element that are used here, without a browser's types. */
interface SeenElement {
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
}
