import createDOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

/** One block of a text at its top level, as safe HTML. */
export type MarkdownBlock = string;

const markdown = new MarkdownIt({ html: false, linkify: true, typographer: false, breaks: false });
// Only what begins with http becomes a link; words that look like host names do not.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
for (const scheme of ["ftp:", "//", "mailto:"]) markdown.linkify.add(scheme, null);
markdown.validateLink = (url) => isWebLink(url) || isPath(url);

markdown.renderer.rules.link_open = (tokens, index) => {
  const href = String(tokens[index]?.attrGet("href") ?? "");
  const safe = markdown.utils.escapeHtml(href);
  if (isWebLink(href)) return `<a href="${safe}" title="${safe}" target="_blank" rel="noopener noreferrer">`;
  return `<a role="button" tabindex="0" class="path" data-path="${safe}">`;
};
// Loading a picture could tell its server that it was seen: it becomes a link that the user may follow.
markdown.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const address = String(token?.attrGet("src") ?? "");
  const source = markdown.utils.escapeHtml(address);
  const words = markdown.utils.escapeHtml(token?.content === "" ? "picture" : (token?.content ?? "picture"));
  if (!isWebLink(address)) return `[${words}]`;
  return `<a href="${source}" title="${source}" target="_blank" rel="noopener noreferrer">[${words}]</a>`;
};
markdown.renderer.rules.fence = (tokens, index) => {
  const { content = "", info = "" } = tokens[index] ?? {};
  return codeBlock(content, info.trim().split(/\s+/)[0] ?? "");
};
markdown.renderer.rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? "", "");

// A path in a code span, and one with a line anywhere, leads into the file. A link holds no other.
markdown.renderer.rules.code_inline = (tokens, index) => {
  const { content = "", meta } = tokens[index] ?? {};
  const code = `<code>${markdown.utils.escapeHtml(content)}</code>`;
  const isPlace = meta !== inLink && content.length <= longestPlace && (path.test(content) || place.test(content));
  return isPlace ? pathLink(content, code) : code;
};
markdown.renderer.rules.text = (tokens, index) => {
  const { escapeHtml } = markdown.utils;
  const { content = "", meta } = tokens[index] ?? {};
  if (meta === inLink) return escapeHtml(content);
  const parts = content.split(/([\w@./:-]+)/);
  return parts
    .map((part, at) => {
      const words = part.replace(/[.:]+$/, "");
      const isPlace = at % 2 === 1 && words.length <= longestPlace && place.test(words);
      return isPlace ? pathLink(words, escapeHtml(words)) + part.slice(words.length) : escapeHtml(part);
    })
    .join("");
};

const inLink = { isInLink: true };
/** Characters; what is longer is no path that anybody reads. */
const longestPlace = 300;
const path = /^(?:[\w@.-]+\/)+[\w@.-]+$/;
const place = /^(?:[\w@.-]+\/)*[\w@.-]+\.[A-Za-z]\w*:\d+(?:[-:]\d+)?$/;

function pathLink(file: string, html: string): string {
  return `<a role="button" tabindex="0" class="path" data-path="${markdown.utils.escapeHtml(file)}">${html}</a>`;
}

markdown.core.ruler.push("links and tasks", ({ tokens }) => {
  for (const [index, { children }] of tokens.entries()) {
    let depth = 0;
    for (const child of children ?? []) {
      depth += child.type === "link_open" ? 1 : child.type === "link_close" ? -1 : 0;
      if (depth > 0) child.meta = inLink;
    }
    const [first] = children ?? [];
    if (first?.type !== "text" || tokens[index - 2]?.type !== "list_item_open") continue;
    // A box that says how it stands, and is not pressed.
    first.content = first.content.replace(/^\[([ xX])\] /, (_all, mark: string) =>
      mark === " " ? "\u2610 " : "\u2611 ",
    );
  }
});

function codeBlock(content: string, language: string): string {
  const { escapeHtml } = markdown.utils;
  const text = escapeHtml(content.replace(/\n$/, ""));
  const label = `<span class="code-language">${escapeHtml(language)}</span>`;
  const copy = `<button type="button" class="code-copy" data-copy="">Copy</button>`;
  return `<div class="code-block"><div class="code-head">${label}${copy}</div><pre tabindex="0"><code>${text}</code></pre></div>`;
}

const allowedTags = [
  ...["a", "b", "blockquote", "br", "button", "code", "del", "div", "em", "h3", "h4", "h5", "h6", "hr", "i"],
  ...["li", "ol", "p", "pre", "s", "span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"],
];
const allowedAttributes = [
  "class",
  "data-copy",
  "data-path",
  "href",
  "rel",
  "role",
  "start",
  "tabindex",
  "target",
  "title",
  "type",
];

let purify: ReturnType<typeof createDOMPurify> | undefined;

/** Cleans the output of markdown-it again, so that there are two independent guards. */
function clean(html: string): string {
  purify ??= createDOMPurify(window);
  return purify.sanitize(html, {
    ALLOWED_TAGS: allowedTags,
    ALLOWED_ATTR: allowedAttributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: /^https?:\/\//i,
    ADD_URI_SAFE_ATTR: ["data-copy", "data-path", "rel", "start", "tabindex", "target", "type"],
  });
}

/**
 * A text in Markdown as safe HTML, one string for each block at the top level. HTML in the text stays text. While a text
 * grows, only its last block changes.
 * @param before blocks of an earlier text of the same message: equal ones are not cleaned again
 */
export function markdownBlocks(text: string, before: ReadonlyMap<string, MarkdownBlock>): Map<string, MarkdownBlock> {
  const tokens = markdown.parse(text, {});
  nestHeadings(tokens);
  const blocks = new Map<string, MarkdownBlock>();
  let from = 0;
  for (let at = 0, depth = 0; at < tokens.length; at++) {
    depth += tokens[at]?.nesting ?? 0;
    if (depth !== 0) continue;
    const html = markdown.renderer.render(tokens.slice(from, at + 1), markdown.options, {});
    from = at + 1;
    // Two equal paragraphs are two blocks.
    const key = `${blocks.size}:${html}`;
    blocks.set(key, before.get(key) ?? clean(html));
  }
  return blocks;
}

/**
 * Headings of a message are below the panel's own level and skip none, whatever the model wrote: users of screen readers navigate
 * by them.
 */
function nestHeadings(tokens: ReturnType<typeof markdown.parse>): void {
  const above: number[] = [];
  for (const token of tokens) {
    if (token.type !== "heading_open" && token.type !== "heading_close") continue;
    const written = Number(token.tag.slice(1));
    if (token.type === "heading_open") {
      while ((above.at(-1) ?? 0) >= written) above.pop();
      above.push(written);
    }
    token.tag = `h${Math.min(2 + above.length, 6)}`;
  }
}

function isWebLink(url: string): boolean {
  return /^https?:\/\/\S+$/i.test(url);
}

/** A path in the workspace: without scheme or host, and not only a fragment. */
function isPath(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:(?!\d+$)/i.test(url) && !/^[/\\]{2}|^#|[\u0000-\u001f]/.test(url) && url !== "";
}
