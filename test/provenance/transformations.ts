import type { SeededRandom } from "@gennai/testkit/seeded-random";
import type { TruthLine } from "./replayed-history.ts";

/** A file with its path, and the style for writing its text. */
export interface Transformed {
  readonly path: string;
  readonly lines: readonly TruthLine[];
  readonly lineEnd: "\n" | "\r\n";
}

type Transform = (file: Transformed, random: SeededRandom, others: readonly Transformed[]) => Transformed;

/** What people and tools do to code, each by a name. A line that was altered is nobody's who was recorded. */
const transformations: Readonly<Record<string, Transform>> = {
  "lines put in": (file, random) =>
    times(random.between(1, 4), file, (each) => inserted(each, random, foreignLines(random))),
  "lines taken out": (file, random) =>
    times(random.between(1, 3), file, (each) => {
      const [start, end] = range(each.lines, random, 6);
      return { ...each, lines: each.lines.toSpliced(start, end - start) };
    }),
  "words changed": (file, random) =>
    times(random.between(1, 8), file, (each) => {
      const at = random.between(0, each.lines.length - 1);
      return { ...each, lines: each.lines.map((line, index) => (index === at ? altered(line, random) : line)) };
    }),
  "block moved within the file": (file, random) => {
    const [start, end] = range(file.lines, random, 30, 4);
    const block = file.lines.slice(start, end);
    return insertedAt({ ...file, lines: file.lines.toSpliced(start, end - start) }, random, block);
  },
  "block moved from another file": (file, random, others) => {
    const { lines } = random.pick(others);
    const [start, end] = range(lines, random, 30, 6);
    return insertedAt(file, random, lines.slice(start, end));
  },
  "block copied within the file": (file, random) => {
    const [start, end] = range(file.lines, random, 30, 5);
    return insertedAt(file, random, file.lines.slice(start, end));
  },
  "file renamed": (file, random) => ({ ...file, path: `moved-${random.between(1, 999)}/${file.path}` }),
  "file copied and changed": (file, random) => {
    const copy = { ...file, path: `copy-of/${file.path}` };
    return times(2, copy, (each) => inserted(each, random, foreignLines(random)));
  },
  "file split in two": (file, random) => {
    const at = random.between(Math.floor(file.lines.length / 4), Math.ceil((file.lines.length * 3) / 4));
    return { ...file, path: `half-of/${file.path}`, lines: file.lines.slice(at) };
  },
  indented: (file, random) => {
    const indent = random.pick(["  ", "\t", "    "]);
    return withTexts(file, (text) => (text.trim() === "" ? text : indent + text));
  },
  "tabs for spaces": (file) =>
    withTexts(file, (text) => text.replace(/^ +/, (spaces) => "\t".repeat(Math.ceil(spaces.length / 2)))),
  "line ends of Windows": (file) => ({ ...file, lineEnd: "\r\n" }),
  "other quotes, no semicolons": (file) => withTexts(file, (text) => text.replaceAll("'", '"').replace(/;$/, "")),
  "lines wrapped": (file, random) => ({ ...file, lines: file.lines.flatMap((line) => wrapped(line, random)) }),
  "lines joined": (file, random) => ({ ...file, lines: joined(file.lines, random) }),
  "lines sorted": (file, random) => {
    const [start, end] = range(file.lines, random, 8, 3);
    const sorted = file.lines.slice(start, end).sort((one, other) => (one.text < other.text ? -1 : 1));
    return { ...file, lines: [...file.lines.slice(0, start), ...sorted, ...file.lines.slice(end)] };
  },
  "code of a stranger pasted in": (file, random, others) => {
    // Common lines of the same project, written again by a person: line by line, out of their order.
    const lines = Array.from({ length: random.between(2, 8) }, () => {
      const { text } = random.pick(random.pick(others).lines);
      return { text: text.trim().length < 12 ? text : `${text.trim()} // ${word(random)}`, writes: null };
    });
    return insertedAt(file, random, lines);
  },
};

/** Chosen by the seed: one of the above, or some of them after another. */
export function transformed(
  file: Transformed,
  random: SeededRandom,
  others: readonly Transformed[],
): { readonly name: string; readonly file: Transformed } {
  const names = Object.keys(transformations);
  const chosen = random.next() < 0.25 ? [random.pick(names), random.pick(names)] : [random.pick(names)];
  let result = file;
  for (const name of chosen) {
    if (result.lines.length >= 8) result = transformations[name]?.(result, random, others) ?? result;
  }
  return { name: chosen.length > 1 ? "two of these" : (chosen[0] ?? ""), file: result };
}

function times(count: number, file: Transformed, change: (file: Transformed) => Transformed): Transformed {
  let result = file;
  for (let each = 0; each < count && result.lines.length > 8; each += 1) result = change(result);
  return result;
}

function range(lines: readonly TruthLine[], random: SeededRandom, most: number, least = 1): readonly [number, number] {
  const length = Math.min(lines.length, random.between(least, most));
  const start = random.between(0, lines.length - length);
  return [start, start + length];
}

function inserted(file: Transformed, random: SeededRandom, block: readonly TruthLine[]): Transformed {
  return insertedAt(file, random, block);
}

function insertedAt(file: Transformed, random: SeededRandom, block: readonly TruthLine[]): Transformed {
  return { ...file, lines: file.lines.toSpliced(random.between(0, file.lines.length), 0, ...block) };
}

/** As people write: a function, a condition, a comment, with the brackets and empty lines that all code has. */
function foreignLines(random: SeededRandom): readonly TruthLine[] {
  const [one, two, three] = [word(random), word(random), word(random)];
  const texts = random.pick([
    ["", `function ${one}(${two}) {`, `  return ${two} + ${random.between(1, 99)};`, "}", ""],
    [`  if (${one} === ${two}) {`, `    ${three}(${one});`, "  }"],
    [`// ${one} ${two} ${three}`],
    [`const ${one} = ${two}.${three}();`, ""],
    [`def ${one}(${two}):`, `    return ${two}.${three}`, "", ""],
    [`  ${one}: ${random.between(1, 999)},`],
  ]);
  return texts.map((text) => ({ text, writes: null }));
}

function altered(line: TruthLine, random: SeededRandom): TruthLine {
  const text = /[A-Za-z]{3,}/.test(line.text)
    ? line.text.replace(/[A-Za-z]{3,}/, word(random))
    : `${line.text} // ${word(random)}`;
  return { text, writes: null };
}

function word(random: SeededRandom): string {
  return Array.from({ length: random.between(5, 10) }, () => random.pick([..."abcdefghijklmnopqrstuvwxyz"])).join("");
}

function withTexts(file: Transformed, change: (text: string) => string): Transformed {
  return { ...file, lines: file.lines.map((line) => ({ ...line, text: change(line.text) })) };
}

/** Some of the lines that are long, broken after a comma. */
function wrapped(line: TruthLine, random: SeededRandom): readonly TruthLine[] {
  if (line.text.length < 40 || random.next() < 0.3) return [line];
  const pieces = line.text.split(/(?<=[,(]) ?/).filter((piece) => piece.trim() !== "");
  return pieces.map((piece, at) => ({ ...line, pieceOf: line.text, text: at === 0 ? piece : `    ${piece.trim()}` }));
}

/** Pairs of short lines on one: it is of either. Brackets by themselves say nothing of who set them, so they stay. */
function joined(lines: readonly TruthLine[], random: SeededRandom): readonly TruthLine[] {
  const result: TruthLine[] = [];
  for (const line of lines) {
    const last = result.at(-1);
    const canJoin = last !== undefined && last.text.trim().length > 8 && line.text.trim().length > 8;
    if (canJoin && last.text.length + line.text.length < 90 && random.next() < 0.2) {
      result[result.length - 1] = {
        text: `${last.text} ${line.text.trim()}`,
        joinedOf: [...(last.joinedOf ?? [last.text]), line.text],
        writes: last.writes === null || line.writes === null ? mixedWith(last, line) : [...last.writes, ...line.writes],
      };
    } else result.push(line);
  }
  return result;
}

/** Half of a person: it may be said to be of the recorded half, or of nobody. */
function mixedWith(one: TruthLine, other: TruthLine): TruthLine["writes"] {
  return one.writes ?? other.writes;
}
