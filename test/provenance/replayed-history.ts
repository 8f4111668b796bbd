import { diffLines } from "@gennai/protocol/diff/line-diff";
import { KnownText } from "@gennai/provenance/matching/known-text";
import type { SeededRandom } from "@gennai/testkit/seeded-random";

/** One commit's change of one file; undefined: the file does not exist. */
export interface HistoryStep {
  /** Steps of one commit share a number; they rise. */
  readonly commit: number;
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A line of which it is known who wrote it. `null`: nobody who was recorded. */
export interface TruthLine {
  readonly text: string;
  readonly writes: readonly number[] | null;
  /** Of a piece of a line: the whole. */
  readonly pieceOf?: string;
  /** Of lines that were joined: these. */
  readonly joinedOf?: readonly string[];
}

export interface ReplayedHistory {
  readonly known: Pick<KnownText, "match">;
  /** Files as they are at the end. */
  readonly files: ReadonlyMap<string, readonly TruthLine[]>;
  /** Names that a file had before, by its name at the end, as git shows renames in a history. */
  readonly formerNames: ReadonlyMap<string, ReadonlySet<string>>;
  /** How often a text, without white space, was ever brought, by whomever. */
  readonly brought: ReadonlyMap<string, number>;
  /** The pieces of text that each recorded write brought, as `runningText` has them. */
  readonly pieces: ReadonlyMap<number, readonly string[]>;
}

/**
 * Plays a history: of its commits, some are recorded writes, the rest is done by people of whom nothing is recorded. The truth is
 * kept line by line beside what is told to the code under test, which sees the recorded writes alone.
 */
export function replayHistory(
  steps: readonly HistoryStep[],
  options: { readonly recorded: number; readonly random: SeededRandom },
): ReplayedHistory {
  const known = new KnownText();
  const files = new Map<string, readonly TruthLine[]>();
  const brought = new Map<string, number>();
  const pieces = new Map<number, string[]>();
  const formerNames = new Map<string, ReadonlySet<string>>();
  let now: { readonly commit: number; readonly recorded: boolean; readonly leaving: Leaving } | undefined;
  // As a record is read: what goes comes first.
  const goes = ({ after }: HistoryStep): number => (after === undefined ? 0 : 1);
  const inOrder = steps.toSorted((one, other) => one.commit - other.commit || goes(one) - goes(other));
  for (const [index, { commit, path, before, after }] of inOrder.entries()) {
    if (now?.commit !== commit) {
      const recorded = options.random.next() < options.recorded;
      now = { commit, recorded, leaving: leavingWith(inOrder, index, files, brought) };
    }
    const { recorded, leaving } = now;
    const operation = after === undefined ? "delete" : before === undefined ? "create" : "update";
    if (recorded) known.add({ write: commit, record: commit, path, operation, before, after, isUndo: false });
    if (after === undefined) files.delete(path);
    else {
      const moved = operation === "create" ? movedFrom(leaving, linesOf(after)) : undefined;
      if (moved !== undefined) formerNames.set(path, new Set([moved.path, ...(formerNames.get(moved.path) ?? [])]));
      // Content before the replayed part of the history.
      const old = files.get(path) ?? moved?.lines ?? truthAfter([], linesOf(before ?? ""), null, brought, []);
      const own = pieces.get(commit) ?? [];
      if (recorded) pieces.set(commit, own);
      files.set(path, truthAfter(old, linesOf(after), recorded ? [commit] : null, brought, own));
    }
  }
  known.close();
  return { known, files, formerNames, brought, pieces };
}

/** Files removed by a commit. Moving a file, by a user or a recorded call, does not make the lines that stay the mover's. */
type Leaving = readonly { readonly path: string; readonly lines: readonly TruthLine[] }[];

/** The one that is mostly the same text, as git shows renames. */
function movedFrom(leaving: Leaving, lines: readonly string[]): Leaving[number] | undefined {
  const joined = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
  const found = leaving.map((old) => {
    const texts = old.lines.map(({ text }) => text);
    const { edits } = diffLines(joined(texts), joined(lines), { timeoutMs: 1_000 });
    return { old, shared: texts.length - edits.reduce((sum, { oldCount }) => sum + oldCount, 0) };
  });
  const [best] = found.sort((one, other) => other.shared - one.shared);
  const isMost = best !== undefined && 2 * best.shared >= Math.max(best.old.lines.length, lines.length);
  return isMost && best.shared > 0 ? best.old : undefined;
}

/** @param first of the commit's steps, of which those that delete come first */
function leavingWith(
  steps: readonly HistoryStep[],
  first: number,
  files: ReadonlyMap<string, readonly TruthLine[]>,
  brought: Map<string, number>,
): Leaving {
  const leaving: Leaving[number][] = [];
  for (const { commit, path, before, after } of steps.slice(first)) {
    if (commit !== steps[first]?.commit || after !== undefined || before === undefined) break;
    leaving.push({ path, lines: files.get(path) ?? truthAfter([], linesOf(before), null, brought, []) });
  }
  return leaving;
}

function truthAfter(
  old: readonly TruthLine[],
  lines: readonly string[],
  writes: TruthLine["writes"],
  brought: Map<string, number>,
  pieces: string[],
): readonly TruthLine[] {
  const joined = (all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
  const { edits } = diffLines(joined(old.map(({ text }) => text)), joined(lines), { timeoutMs: 1_000 });
  const truth: TruthLine[] = [];
  let from = 0;
  for (const edit of [...edits, { oldStart: old.length + 1, oldCount: 0, newStart: lines.length + 1, newCount: 0 }]) {
    truth.push(...old.slice(from, edit.oldStart - 1));
    const fresh = lines.slice(edit.newStart - 1, edit.newStart - 1 + edit.newCount);
    pieces.push(runningText(fresh));
    for (const text of fresh) {
      truth.push({ text, writes });
      const bare = bareText(text);
      brought.set(bare, (brought.get(bare) ?? 0) + 1);
    }
    from = edit.oldStart - 1 + edit.oldCount;
  }
  return truth;
}

/** Lines as one text, whatever a formatter did, and however it broke them. */
export function runningText(lines: readonly string[]): string {
  return lines
    .join("")
    .replaceAll(/[\s;,]+/g, "")
    .replaceAll("'", '"');
}

/** What makes two lines the same text, whatever a formatter did. */
export function bareText(line: string): string {
  return line
    .replaceAll(/\s+/g, "")
    .replaceAll("'", '"')
    .replace(/[;,]+$/, "");
}

export function linesOf(text: string): readonly string[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
