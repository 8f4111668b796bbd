import { RE2JS } from "re2js";

export interface GlobOptions {
  readonly nocase?: boolean;
  /** Braces are characters like others. */
  readonly nobrace?: boolean;
  /** Parentheses behind `?`, `*`, `+`, `@` and `!` are characters like others. */
  readonly noextglob?: boolean;
}

/**
 * Whether texts match a glob, or one of several, in time that grows with the length of the text alone: models and workspaces choose
 * both, and regular expressions with backtracking take minutes for a name that is made for a glob of some stars.
 *
 * Within a name, and for a dot that begins it as well: `*`, `?`, `[a-z]`, `[!a]`. `**` as a name of its own is any number of names.
 * `{a,b}`, `{1..9}` and bash's `?(a|b)`, `*()`, `+()`, `@()` are what one expects; `!(a)` is what `*` is, so whoever allows by globs says `noextglob`. `\` takes the meaning of
 * what follows. All else is characters: also a `!` at the beginning, and what is not closed. No glob matches an empty text.
 */
export function globMatcher(glob: string | readonly string[], options: GlobOptions = {}): (text: string) => boolean {
  const expression = [glob].flat().map((each) => new GlobReader(each, options).read());
  const flags = RE2JS.DOTALL | (options.nocase === true ? RE2JS.CASE_INSENSITIVE : 0);
  const compiled = RE2JS.compile(expression.join("|"), flags);
  return (text) => text !== "" && compiled.testExact(text);
}

const deepest = 50;
const longestRange = 1_000;
const member = "\\[:[a-z]+:\\]|\\\\[^/]|[^\\]\\\\/]";
const someClass = new RegExp(`\\[[!^]?(?:${member}|\\])(?:${member})*\\]`, "uy");
const someRange = /^\{(?:(-?\d{1,9})\.\.(-?\d{1,9})|([a-z])\.\.([a-z]))\}/i;

/** Whether a name begins where a part of a glob does, and ends where it does. */
interface Around {
  readonly startsName: boolean;
  readonly endsName: boolean;
}

/** Writes a glob as a regular expression of RE2. */
class GlobReader {
  readonly #glob: string;
  /** By the place of what opens a group: where each of its alternatives ends. */
  readonly #groups: ReadonlyMap<number, readonly number[]>;
  #at = 0;

  constructor(glob: string, options: GlobOptions) {
    this.#glob = glob;
    this.#groups = groupsIn(glob, options);
  }

  read(): string {
    return this.#sequence(this.#glob.length, { startsName: true, endsName: true });
  }

  #sequence(end: number, { startsName, endsName }: Around): string {
    let expression = "";
    for (let starts = startsName; this.#at < end; starts = this.#glob[this.#at - 1] === "/")
      expression += this.#part(end, { startsName: starts, endsName });
    return expression;
  }

  #part(end: number, { startsName, endsName }: Around): string {
    const next = this.#glob.slice(this.#at, end);
    if (endsName && /^(?:\/\*\*)+$/.test(next)) return this.#past(next.length, "(?:/.*)?");
    if (endsName && startsName && next === "**") return this.#past(2, ".*");
    if (startsName && next.startsWith("**/")) return this.#past(3, "(?:.*/)?");
    const kind = /^[?*+@!]\(/.test(next) && this.#groups.has(this.#at + 1) ? next[0] : undefined;
    const ends = this.#groups.get(kind === undefined ? this.#at : this.#at + 1);
    if (ends === undefined) return this.#single(startsName);
    if (kind !== undefined) this.#at += 1;
    const last = ends.at(-1) ?? 0;
    const isNameAfter = this.#glob[last + 1] === "/" || (last + 1 === end && endsName);
    const alternatives =
      inRange(this.#glob.slice(this.#at, last + 1)) ?? this.#each(ends, { startsName, endsName: isNameAfter });
    this.#at = last + 1;
    if (kind === "!") return "[^/]*";
    return `(?:${alternatives.join("|")})${kind === undefined || kind === "@" ? "" : kind}`;
  }

  #past(length: number, expression: string): string {
    this.#at += length;
    return expression;
  }

  #each(ends: readonly number[], around: Around): readonly string[] {
    return ends.map((end) => {
      this.#at += 1;
      return this.#sequence(end, around);
    });
  }

  #single(startsName: boolean): string {
    const rest = this.#glob.slice(this.#at);
    const [each = ""] = /^\\?[^]/u.exec(rest) ?? [];
    if (each === "*") {
      const [stars = ""] = /^\*+(?!\()|^\*+(?=\*\()|^\*/.exec(rest) ?? [];
      const isWholeName = startsName && /^(?:\/|$)/.test(rest.slice(stars.length));
      return this.#past(stars.length, isWholeName ? "[^/]+" : "[^/]*");
    }
    if (each === "?") return this.#past(1, "[^/]");
    const members = each === "[" ? classAt(this.#glob, this.#at) : "";
    if (members !== "") return this.#past(members.length, inClass(members));
    return this.#past(each.length, quoted(each.replace(/^\\(?=.)/su, "")));
  }
}

/** In one pass: what is opened again and again and never closed takes no longer. */
function groupsIn(glob: string, { nobrace, noextglob }: GlobOptions): ReadonlyMap<number, readonly number[]> {
  const groups = new Map<number, readonly number[]>();
  const open: { readonly at: number; readonly isExtended: boolean; readonly ends: number[] }[] = [];
  let literalBefore = -1;
  for (let at = 0; at < glob.length; at += 1) {
    const each = glob[at];
    const top = open.at(-1);
    const isExtended = each === "(" && noextglob !== true && at !== literalBefore && /[?*+@!]/.test(glob[at - 1] ?? "");
    if (each === "\\") literalBefore = (at += 1) + 1;
    else if (each === "[") at += Math.max(classAt(glob, at).length - 1, 0);
    else if (open.length < deepest && (isExtended || (each === "{" && nobrace !== true)))
      open.push({ at, isExtended, ends: [] });
    else if (top !== undefined && each === (top.isExtended ? "|" : ",")) top.ends.push(at);
    else if (top !== undefined && each === (top.isExtended ? ")" : "}")) {
      open.pop();
      const says = top.isExtended || top.ends.length > 0 || inRange(glob.slice(top.at, at + 1)) !== undefined;
      if (says) groups.set(top.at, [...top.ends, at]);
    }
  }
  return groups;
}

/** What braces of two bounds hold, unless it is very much; undefined for others. */
function inRange(text: string): readonly string[] | undefined {
  const [range, low, high, first = "", last = ""] = someRange.exec(text) ?? [];
  if (range !== text) return undefined;
  if (low === undefined) return [`[${[first, last].sort().join("-")}]`];
  const from = Math.min(Number(low), Number(high));
  const length = Math.abs(Number(high) - Number(low)) + 1;
  return length > longestRange ? undefined : Array.from({ length }, (_, index) => String(from + index));
}

/** With its brackets; empty if nothing closes it. */
function classAt(glob: string, at: number): string {
  // Of many that nothing closes, none is looked through.
  if (!glob.includes("]", at)) return "";
  someClass.lastIndex = at;
  return someClass.exec(glob)?.[0] ?? "";
}

/** @param text with its brackets */
function inClass(text: string): string {
  const isNegated = /^\[[!^]/.test(text);
  const members = text.slice(isNegated ? 2 : 1, -1).matchAll(/\[:([a-z]+):\]|\\?([^])(?:-\\?([^]))?/gu);
  const expressions = [...members].flatMap(([, name, low = "", high = low]) => {
    if (name !== undefined) return namedClasses.has(name) ? `[:${name}:]` : [];
    return codePoint(low) <= codePoint(high) ? `${quoted(low)}-${quoted(high)}` : [];
  });
  if (isNegated) return `[^/${expressions.join("")}]`;
  return expressions.length === 0 ? nothing : `[${expressions.join("")}]`;
}

const nothing = "[^\\x00-\\x{10FFFF}]";
const namedClasses: ReadonlySet<string> = new Set(
  "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split(" "),
);

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function quoted(character: string): string {
  return /^[a-z0-9\u0080-\u{10ffff}\n\r\t]$/iu.test(character)
    ? character
    : `\\x{${codePoint(character).toString(16)}}`;
}
