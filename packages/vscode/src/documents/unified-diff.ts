/** A file of a unified diff, before and after; empty: there was, or is, none. */
export interface DiffSides {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

interface Hunk {
  /** 1-based; 0 for a new file. */
  readonly start: number;
  readonly lines: readonly string[];
}

/** Stands for lines that a diff leaves out. */
const gap = "⋯";

/**
 * The files of a unified diff, whole where the present file is what the diff begins with, else only its lines.
 * @param textOf of the present file; undefined: there is none, or it is no text
 * @returns undefined: it is no such diff, or was cut
 */
export async function sidesOfDiff(
  diff: string,
  textOf: (path: string) => Promise<string | undefined>,
): Promise<readonly DiffSides[] | undefined> {
  const sides: DiffSides[] = [];
  for (const part of diff.split(/^(?=--- )/m)) {
    const [, from = "", to = "", body = ""] = /^--- (.*)\n\+\+\+ (.*)\n([^]*)$/.exec(part) ?? [];
    const hunks = hunksOf(body);
    if (hunks === undefined) return undefined;
    const path = named(to) ?? named(from);
    if (path === undefined) return undefined;
    const text = named(from) === undefined ? "" : await textOf(path);
    sides.push({ path, ...(wholeSides(text, hunks) ?? partSides(hunks)) });
  }
  return sides.length === 0 ? undefined : sides;
}

function named(header: string): string | undefined {
  return header === "/dev/null" ? undefined : header.replace(/^[ab]\//, "");
}

/** undefined: there is something else between the hunks, or a hunk has not all of its lines. */
function hunksOf(body: string): readonly Hunk[] | undefined {
  const hunks: Hunk[] = [];
  const lines = body.replace(/\n$/, "").split("\n");
  while (lines.length > 0) {
    const [, start = "", old = "1", fresh = "1"] =
      /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines.shift() ?? "") ?? [];
    const end = lines.findIndex((line) => line.startsWith("@@ "));
    const own = lines.splice(0, end === -1 ? lines.length : end).filter((line) => !line.startsWith("\\"));
    if (start === "" || side(own, "-").length !== Number(old) || side(own, "+").length !== Number(fresh))
      return undefined;
    hunks.push({ start: Number(start), lines: own });
  }
  return hunks.length === 0 ? undefined : hunks;
}

function side(lines: readonly string[], mark: "-" | "+"): readonly string[] {
  return lines
    .filter((line) => line === "" || line.startsWith(" ") || line.startsWith(mark))
    .map((line) => line.slice(1));
}

/** undefined: the file is not what the diff begins with. */
function wholeSides(text: string | undefined, hunks: readonly Hunk[]): Omit<DiffSides, "path"> | undefined {
  if (text === undefined) return undefined;
  const lines = text === "" ? [] : text.split("\n");
  for (const { start, lines: own } of hunks.toReversed()) {
    const at = Math.max(0, start - 1);
    const old = side(own, "-");
    if (old.some((line, index) => lines[at + index] !== line)) return undefined;
    lines.splice(at, old.length, ...side(own, "+"));
  }
  return { before: text, after: lines.join("\n") };
}

function partSides(hunks: readonly Hunk[]): Omit<DiffSides, "path"> {
  const text = (mark: "-" | "+") => hunks.map(({ lines }) => side(lines, mark).join("\n")).join(`\n${gap}\n`);
  return { before: text("-"), after: text("+") };
}
