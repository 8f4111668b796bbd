/** Directives in an HTML comment before a fenced block, which say how it is run; CONTRIBUTING.md explains each. */
const directiveNames = ["not run", "run by", "before", "typed", "stays running", "goes on", "file"] as const;

export type DirectiveName = (typeof directiveNames)[number];

export interface Block {
  /** 1-based line of the opening fence. */
  readonly line: number;
  /** First word behind the fence; empty: none. */
  readonly language: string;
  /** Without the fences, ending in a line end unless it is empty. */
  readonly text: string;
  /** Those right before it. */
  readonly directives: ReadonlyMap<DirectiveName, string>;
}

export interface MarkdownPage {
  readonly blocks: readonly Block[];
  /** As GitHub makes them of headings. */
  readonly anchors: ReadonlySet<string>;
  /** Targets of links and pictures outside of code, with their lines. */
  readonly links: readonly { readonly line: number; readonly target: string }[];
}

/** Reads what tests need of a page. Throws `Error` with the line for a fence that never closes or a directive nobody knows. */
export function parseMarkdown(text: string): MarkdownPage {
  const blocks: Block[] = [];
  const anchors = new Set<string>();
  const links: { line: number; target: string }[] = [];
  const lines = text.split("\n");
  let directives = new Map<DirectiveName, string>();
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const fence = /^(\s*)(`{3,})(.*)$/.exec(line);
    if (fence !== null) {
      const [, indent = "", ticks = "", info = ""] = fence;
      const end = lines.findIndex((other, at) => at > index && other.trim() === ticks);
      if (end === -1) throw new Error(`line ${index + 1}: the block is never closed`);
      const content = lines.slice(index + 1, end).map((each) => each.replace(new RegExp(`^${indent}`), ""));
      blocks.push({
        line: index + 1,
        language: info.trim().split(/\s/)[0] ?? "",
        text: content.map((each) => `${each}\n`).join(""),
        directives,
      });
      directives = new Map();
      index = end;
    } else if (/^\s*<!--/.test(line)) {
      const end = lines.findIndex((other, at) => at >= index && other.includes("-->"));
      if (end === -1) throw new Error(`line ${index + 1}: the comment is never closed`);
      const comment = lines.slice(index, end + 1).join("\n");
      const directive = directiveOf(comment);
      if (directive !== undefined) directives.set(...directive);
      index = end;
    } else {
      if (line.trim() !== "" && directives.size > 0) {
        throw new Error(`line ${index + 1}: ${[...directives.keys()].join(", ")} stands before no block`);
      }
      const heading = /^#{1,6} (.+)$/.exec(line);
      if (heading !== null) anchors.add(anchorOf(heading[1] ?? "", anchors));
      for (const [, target = ""] of withoutCode(line).matchAll(/\]\(([^()\s]+)\)/g)) {
        links.push({ line: index + 1, target });
      }
    }
  }
  return { blocks, anchors, links };
}

/** Undefined if the comment is no directive. */
function directiveOf(comment: string): [DirectiveName, string] | undefined {
  const said = comment.replace(/^\s*<!--/, "").replace(/-->\s*$/, "");
  const name = directiveNames.find((each) => said.trim().startsWith(each));
  if (name === undefined) {
    if (/^ ?[a-z ]{1,16}:/.test(said)) throw new Error(`${JSON.stringify(said.trim())} is no directive that is known`);
    return undefined;
  }
  return [name, said.trim().slice(name.length).replace(/^:/, "").trim()];
}

function anchorOf(heading: string, taken: ReadonlySet<string>): string {
  const text = heading.replace(/`/g, "").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
  for (let count = 0; ; count += 1) {
    const anchor = count === 0 ? plain : `${plain}-${count}`;
    if (!taken.has(anchor)) return anchor;
  }
}

function withoutCode(line: string): string {
  return line.replace(/`[^`]*`/g, "");
}
