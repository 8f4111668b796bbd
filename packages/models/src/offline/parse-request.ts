import { mentionAt } from "@gennai/agent/prompt/parse-mentions";

/** One thing that the offline assistant was asked for; a part that its form lacks is empty. */
export interface Step {
  readonly verb: string;
  /** As the user put it, on one line and short. */
  readonly words: string;
  /** A file, a directory or a glob. */
  readonly path: string;
  /** What is replaced, written, searched for, run or said. */
  readonly text: string;
  /** What replaces the text; of a command, that the terminal runs it. */
  readonly by: string;
}

/** The steps; or the clause that is none of the language, and how to write what its first word asks for. */
export type ParsedRequest = readonly Step[] | { readonly clause: string; readonly usage: string | undefined };

/** A quoted text, by its number. */
const mark = String.raw`\uE000\d+\uE001`;

/** The language: each verb, how users are told to use it, and what follows it. */
const forms: ReadonlyMap<string, readonly [usage: string, rest: RegExp]> = new Map(
  Object.entries({
    replace: ["replace A with B in GLOB", /^(?<text>.+?)\swith\s(?<by>.+)\sin\s(?<path>.+)$/is],
    rename: ["rename A to B in GLOB", /^(?<text>.+?)\sto\s(?<by>.+)\sin\s(?<path>.+)$/is],
    create: [
      "create FILE with TEXT (or the text below in a fenced block)",
      new RegExp(`^(?<path>.+?)(?:\\s(?:with\\s)?(?<text>(?<=\\swith\\s).+|${mark}))?$`, "is"),
    ],
    append: ["append TEXT to FILE", /^(?<text>.+)\sto\s(?<path>.+)$/is],
    delete: ["delete FILE", /^(?<path>.+)$/is],
    find: ["find TEXT, find TEXT in GLOB", /^(?<text>.+?)(?:\sin\s(?<path>(?:(?!\sin\s).)+))?$/is],
    show: ["show FILE", /^(?<path>.+)$/is],
    list: ["list, list DIR", /^(?:the\sfiles\b)?\s?(?:in\s)?(?<path>.*)$/is],
    run: ["run COMMAND, run COMMAND in the terminal", /^(?<text>.+?)(?<by>\sin\s(?:the|a)\sterminal[.!]?)?$/is],
    verify: ["verify COMMAND (at the end of a plan: what proves it)", /^(?<text>.+)$/is],
    say: ["say TEXT", /^(?<text>.+)$/is],
  }),
);
const joint = new RegExp(String.raw`\s(?:and\s)?then,?\s+(?=(?:${[...forms.keys()].join("|")})(?!\S))`, "i");
/** A fenced block, a mention in quotes or a quoted text: no word in it is a keyword. A quote that does not close is an ordinary character. */
const quoted =
  /(?<!\S)(?:(`{3,}|~{3,})[^\n`]*\n(?:[^]*?\n)??[ \t]*\1(?!\S)|@(?:"[^"\n]+"|'[^'\n]+')\S*|(?:"(?:\\[nt"\\]|[^])*?"|'[^]*?'|`[^]*?`|“[^]*?”|‘[^]*?’)(?![^\s,;.:!?]|[,;.:!?]\S))/g;
const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t" };

/** The answer to `help`, and to what is not in the language. */
export function helpText(opening = "no language model, just a small set of requests."): string {
  return `I am the offline assistant built into Gennai: ${opening}

I understand these, in any letter case, several joined by \`then\`:
${[...forms.values()].map(([usage]) => `- ${usage}`).join("\n")}
- help

Put a text that holds one of the small words (with, in, to, then) into quotes: "…", '…' or \`…\`.

For everything else, choose a language model: in an editor and in the browser by the button below the prompt, elsewhere by the
options \`--backend\`, \`--model\` and \`--base-url\`.`;
}

/**
 * Reads the small language: keywords in any case; an argument is a quoted text, a fenced block, or the plain words up to the
 * next keyword; `then` before a verb joins requests. Pure.
 */
export function parseRequest(request: string): ParsedRequest {
  const quotes: string[] = [];
  const masked = request.trim().replaceAll(quoted, (quote) => `\uE000${quotes.push(quote) - 1}\uE001`);
  const written = (part: string) =>
    part.trim().replaceAll(/\uE000(\d+)\uE001/g, (all, index: string) => quotes[Number(index)] ?? all);
  const textOf = (part = "") => {
    const [, alone] = /^\uE000(\d+)\uE001[\s,;.]*$/.exec(part.trim()) ?? [];
    const quote = quotes[Number(alone)];
    return quote === undefined || quote.startsWith("@") ? written(part).replace(/[,;]$/, "") : unquoted(quote);
  };
  // A mention is its file, `./` means nothing, and neither does the full stop that ends a sentence.
  const pathOf = (part = "") => {
    const mention = mentionAt(written(part), 0);
    const rest = written(part).slice(mention?.written.length);
    if (mention?.type === "path" && /^[\s,;.]*$/.test(rest)) return mention.path;
    const path = part.startsWith("\uE000") ? textOf(part) : textOf(part).replace(/(?<=[\w*\])}])\.$/, "");
    return path.replace(/^(\.\/)+(?=.)/, "");
  };
  const steps: Step[] = [];
  for (const clause of masked.split(joint)) {
    const [, verb = "", rest = ""] = /^(\S*)\s*(.*)$/s.exec(clause) ?? [];
    const [usage, form] = forms.get(verb.toLowerCase()) ?? [];
    const groups = form?.exec(rest)?.groups;
    const text = textOf(groups?.["text"]);
    const short = oneLine(written(clause));
    // An empty text occurs everywhere.
    if (groups === undefined || (text === "" && /^(?:replace|rename|find)$/i.test(verb)))
      return { clause: short, usage };
    const path = pathOf(groups["path"]);
    steps.push({ verb: verb.toLowerCase(), words: short, path, text, by: textOf(groups["by"]) });
  }
  return steps;
}

function unquoted(quote: string): string {
  if (/^(?:`{3,}|~{3,})[^\n`]*\n/.test(quote)) return quote.split("\n").slice(1, -1).join("\n");
  const inside = quote.slice(1, -1);
  if (!quote.startsWith('"')) return inside;
  return inside.replaceAll(/\\([nt"\\])/g, (_, letter: string) => escapes[letter] ?? letter);
}

function oneLine(words: string): string {
  const line = words.replaceAll(/\s+/g, " ");
  return line.length > 100 ? `${line.slice(0, 99).toWellFormed()}…` : line;
}
