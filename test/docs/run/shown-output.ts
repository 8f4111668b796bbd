/**
 * Compares the output shown on a page with the real one. `…` alone on a line matches any lines, `…` within a line any text.
 * Ids, digests, codes, dates and times of day may differ; but equal ones on the page must be equal in the real output, from
 * their first appearance on, also in commands.
 */
export class ShownOutput {
  /** Real values by those on the page. */
  readonly #real = new Map<string, string>();

  /** The page's text with the values that are known by now. */
  inWords(text: string): string {
    return text.replace(changing, (shown) => this.#real.get(shown) ?? shown);
  }

  /** Whether `came` is what is shown; remembers the values of what is new. */
  matches(shown: string, came: string): boolean {
    const names: string[] = [];
    const pattern = lines(shown).map((line) =>
      line.trim() === "…" ? "(?:.*\\n)*?" : `${this.#linePattern(line, names)}\\n`,
    );
    const match = new RegExp(`^${pattern.join("")}$`, "u").exec(
      lines(came)
        .map((line) => `${line}\n`)
        .join(""),
    );
    if (match === null) return false;
    for (const [index, name] of names.entries()) this.#real.set(name, match[index + 1] ?? "");
    return true;
  }

  #linePattern(line: string, names: string[]): string {
    let pattern = "";
    let at = 0;
    for (const match of line.matchAll(changing)) {
      const [shown] = match;
      pattern += literal(line.slice(at, match.index));
      at = match.index + shown.length;
      const known = this.#real.get(shown);
      const place = names.indexOf(shown);
      if (isTime(shown)) pattern += kindOf(shown);
      else if (known !== undefined) pattern += literal(known);
      else if (place !== -1) pattern += `\\${place + 1}`;
      else {
        names.push(shown);
        pattern += `(${kindOf(shown)})`;
      }
    }
    return pattern + literal(line.slice(at));
  }
}

const kinds = [
  String.raw`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`,
  String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?`,
  String.raw`\d{1,2}:\d\d:\d\d [AP]M`,
  String.raw`\d\d:\d\d:\d\d`,
  // Digests, whole or the beginning of one, and abbreviated commits.
  String.raw`(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{16}|[0-9a-f]{12}|[0-9a-f]{7})`,
  // Codes and tokens of 192 or 256 bits.
  String.raw`(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?:[\w-]{43}|[\w-]{32})`,
];
/** The last ones are what mkdtemp puts behind a name. */
const changing = new RegExp(`(?<![\\w-])(?:${kinds.join("|")})(?![\\w-])|(?<=gennai-sample-)\\w{6}`, "gu");

/** Whether it is a time, which tells nothing apart: two that are shown alike may differ. */
function isTime(shown: string): boolean {
  return kinds.slice(1, 4).some((kind) => new RegExp(`^${kind}$`, "u").test(shown));
}

/** A pattern for values of the same kind, without groups. */
function kindOf(shown: string): string {
  for (const kind of kinds.slice(0, 4)) if (new RegExp(`^${kind}$`, "u").test(shown)) return kind;
  return /^[0-9a-f]+$/.test(shown) ? `[0-9a-f]{${shown.length}}` : `[\\w-]{${shown.length}}`;
}

/** Without blanks at line ends and empty lines at the end. */
function lines(text: string): string[] {
  const trimmed = text.replace(/[ \t\r]+$/gm, "").trimEnd();
  return trimmed === "" ? [] : trimmed.split("\n");
}

function literal(text: string): string {
  return text
    .split("…")
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join(".*?");
}
