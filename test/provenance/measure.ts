import { SeededRandom } from "@gennai/testkit/seeded-random";
import { bareText, type ReplayedHistory, runningText, type TruthLine } from "./replayed-history.ts";
import { type Transformed, transformed } from "./transformations.ts";

/** Lines counted by how they came out. */
export interface Tally {
  transformed: number;
  /** Lines that a recorded write brought. */
  origin: number;
  /** Of these, how many got a name. */
  named: number;
  /** Lines that got a name and whose text was brought once ever: all, and wrong ones. */
  unique: number;
  uniqueWrong: number;
  /** The same for texts that were brought more than once. */
  common: number;
  commonWrong: number;
  /** A few that are wrong or got no name, for people. */
  readonly examples: string[];
}

export function emptyTally(): Tally {
  return { transformed: 0, origin: 0, named: 0, unique: 0, uniqueWrong: 0, common: 0, commonWrong: 0, examples: [] };
}

export interface Measured {
  readonly all: Tally;
  readonly byName: ReadonlyMap<string, Tally>;
  readonly byMethod: ReadonlyMap<string, Tally>;
}

/** Transforms files of a replayed history, by a seed, and asks of each line whose it is. */
export function measure(
  { known, files, formerNames, brought, pieces }: ReplayedHistory,
  { count, seed }: { readonly count: number; readonly seed: number },
): Measured {
  const random = new SeededRandom(seed);
  const candidates = [...files]
    .map(([path, lines]): Transformed => ({ path, lines, lineEnd: "\n" }))
    .filter(({ lines }) => lines.length >= 12 && lines.length <= 3_000 && lines.some(({ writes }) => writes !== null));
  const all = emptyTally();
  const byName = new Map<string, Tally>();
  const byMethod = new Map<string, Tally>();
  for (let each = 0; each < count; each += 1) {
    const { name, file } = transformed(random.pick(candidates), random, candidates);
    const tally = byName.get(name) ?? emptyTally();
    byName.set(name, tally);
    all.transformed += 1;
    tally.transformed += 1;
    const text = file.lines.map((line) => line.text + file.lineEnd).join("");
    const matches = known.match(text, new Set([file.path, ...(formerNames.get(file.path) ?? [])]));
    for (const [at, line] of file.lines.entries()) {
      const match = matches[at];
      const write = match?.type === "write" ? match.write : undefined;
      // A person who copies or reflows what a write brought leaves it what that write brought.
      const isRight =
        write !== undefined && (line.writes?.includes(write) ?? isCopy(file.lines, at, pieces.get(write) ?? []));
      const isUnique = isBroughtOnce(line, brought) && occurrences(file.lines, line) === 1;
      const method = match?.type === "write" ? `${match.method} ${match.confidence}` : (match?.type ?? "none");
      const methods = byMethod.get(method) ?? emptyTally();
      byMethod.set(method, methods);
      for (const into of [all, tally, methods])
        count1(into, line, { write, isRight, isUnique }, `${name}: ${file.path}:${at + 1} `);
    }
  }
  return { all, byName, byMethod };
}

/** Of lines that were joined, nobody may have brought the whole, and one of them only once. */
function isBroughtOnce({ text, pieceOf, joinedOf }: TruthLine, brought: ReplayedHistory["brought"]): boolean {
  const times = (line: string): number | undefined => brought.get(bareText(line));
  const whole = pieceOf ?? text;
  if (joinedOf === undefined) return (times(whole) ?? 1) === 1;
  return times(whole) === undefined && joinedOf.some((line) => times(line) === 1);
}

const counts = new WeakMap<readonly TruthLine[], Map<string, number>>();

function occurrences(lines: readonly TruthLine[], { text }: TruthLine): number {
  let found = counts.get(lines);
  if (found === undefined) {
    found = new Map<string, number>();
    for (const line of lines) found.set(bareText(line.text), (found.get(bareText(line.text)) ?? 0) + 1);
    counts.set(lines, found);
  }
  return found.get(bareText(text)) ?? 0;
}

/** Characters in a row, with the line among them, that make a copy. */
const copied = 60;

function isCopy(lines: readonly TruthLine[], at: number, pieces: readonly string[]): boolean {
  for (let first = at; first >= Math.max(0, at - 4); first -= 1) {
    for (let end = at + 1; end <= Math.min(lines.length, at + 5); end += 1) {
      const text = runningText(lines.slice(first, end).map((line) => line.text));
      if (text.length >= copied && pieces.some((piece) => piece.includes(text))) return true;
    }
  }
  return false;
}

function count1(
  tally: Tally,
  line: TruthLine,
  {
    write,
    isRight,
    isUnique,
  }: { readonly write: number | undefined; readonly isRight: boolean; readonly isUnique: boolean },
  where: string,
): void {
  if (line.writes !== null) {
    tally.origin += 1;
    if (write !== undefined) tally.named += 1;
  }
  if (write === undefined) return;
  if (isUnique) tally.unique += 1;
  else tally.common += 1;
  if (isRight) return;
  if (isUnique) tally.uniqueWrong += 1;
  else tally.commonWrong += 1;
  if (tally.examples.length < 12 || isUnique) {
    tally.examples.push(
      `${isUnique ? "UNIQUE " : ""}${where}said ${write}, is ${line.writes?.join("+") ?? "nobody's"}: ${line.text.trim().slice(0, 60)}`,
    );
  }
}
