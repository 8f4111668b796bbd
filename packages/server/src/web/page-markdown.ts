import type { FetchedPage } from "./fetch-page.ts";

/** Characters of a page that a model gets at once. */
export const maxPageCharacters = 100_000;

/** What is asked of an element of a page; the machine has no DOM of its own. */
interface PageElement {
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
}

/** A page as markdown: what is no HTML stays as it is. */
export async function pageMarkdown({ mediaType, text }: Pick<FetchedPage, "mediaType" | "text">): Promise<string> {
  if (mediaType !== "text/html" && mediaType !== "application/xhtml+xml") return text;
  // Loaded only when a page is fetched.
  const { default: TurndownService } = await import("turndown");
  const service = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  service.remove(["script", "style", "noscript", "iframe", "form", "nav", "footer"]);
  // Elements that no reader sees are no part of the page's text.
  service.addRule("hidden", {
    filter: (node: PageElement) =>
      node.hasAttribute("hidden") ||
      node.getAttribute("aria-hidden") === "true" ||
      /display:\s*none|visibility:\s*hidden/i.test(node.getAttribute("style") ?? ""),
    replacement: () => "",
  });
  return service.turndown(text);
}
