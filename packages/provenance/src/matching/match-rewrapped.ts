import type { MatchedLines } from "./match-by-lines.ts";
import { type Match, notRecorded, outside, type Source, unsure } from "./passage.ts";
import type { PassageIndex } from "./passage-index.ts";
import type { Piece, RunningPieces } from "./running-pieces.ts";
import { type SqueezedRun, squeezedRun } from "./text-lines.ts";

/** Known lines this near to one that is not known may be pieces of a longer line that was broken. */
const beside = 3;
/** A piece of text that is this many times as long as what a line was known by is right where they differ. */
const clearly = 1.6;
/** A line that ends open and was known by fewer characters than this may be the beginning of another one. */
const littleBeforeUnknown = 60;

/** The source of a character, by the longest piece that contains it. */
interface Told {
  readonly source: Source;
  readonly score: number;
  /** True if the piece is from the file as it was last written. */
  readonly isLatest: boolean;
  /** The passage's line that it belongs to. */
  readonly owner: string;
  readonly isDisputed: boolean;
}

/**
 * Fills in lines that were broken or joined: around each line that is not known, the text is looked for without its line breaks.
 * A piece that is longer than the run by which a neighbour was known corrects it: of a long line that was broken, a part can look
 * like an older line.
 *
 * @param near paths that the file had
 */
export function matchRewrapped(
  lines: readonly string[],
  known: MatchedLines,
  from: { readonly pieces: RunningPieces; readonly index: PassageIndex; readonly near: ReadonlySet<string> },
): readonly Match[] {
  const { matches, claims } = known;
  if (!matches.some(isOpen)) return matches;
  const { pieces, index, near } = from;
  const keys = index.keysOf(lines);
  const run = squeezedRun(lines, 0, lines.length);
  const starts = startsOf(run, lines.length);
  const isCopied = (passage: number, line: number): boolean => {
    const key = index.keys(passage)[line] ?? -1;
    return index.weight(key) < 3 || claims.isTaken(key, index.passage(passage).sources[line] ?? outside);
  };
  const wanted = matches.flatMap((match, line) =>
    isOpen(match) ? [[starts[line] ?? 0, starts[line + 1] ?? 0] as const] : [],
  );
  const told = tell(pieces.find(run.text, wanted, near, isCopied), pieces, run, nearOpen(matches));
  forgetAltered(told, matches, starts);
  const filled = matches.map((match, line) => {
    const characters = told.slice(starts[line], starts[line + 1]);
    const said = matchOf(characters);
    if (said === undefined) return match;
    if (isOpen(match)) return unlessBrought(said, keys[line] ?? -1, index);
    return corrected(match, said, characters, known.runScore(line, starts));
  });
  return withoutBeginnings(lines, filled, known, starts);
}

/** Where each line's characters start, and where the last one's end. */
function startsOf({ text, lines }: SqueezedRun, count: number): readonly number[] {
  const starts: number[] = [];
  for (const [at, line] of lines.entries()) while (starts.length <= line) starts.push(at);
  while (starts.length <= count) starts.push(text.length);
  return starts;
}

/** Whether each line is unknown, or near an unknown one. */
function nearOpen(matches: readonly Match[]): readonly boolean[] {
  const isNear = matches.map(() => false);
  for (const [line, match] of matches.entries()) {
    if (isOpen(match)) isNear.fill(true, Math.max(0, line - beside), line + beside + 1);
  }
  return isNear;
}

/** Takes the likeliest piece first; a nearly as likely piece with another source leaves a character undecided. */
function tell(
  found: readonly Piece[],
  pieces: RunningPieces,
  { lines, text }: SqueezedRun,
  isWanted: readonly boolean[],
): (Told | undefined)[] {
  const told: (Told | undefined)[] = Array.from({ length: text.length });
  for (const [number, piece] of found.entries()) {
    let at = piece.start - 1;
    for (const owner of pieces.owners(piece)) {
      at += 1;
      if (owner === undefined || isWanted[lines[at] ?? -1] !== true) continue;
      const known = told[at];
      if (known === undefined) {
        const { score, isLatest } = piece;
        told[at] = { source: owner.source, score, isLatest, owner: `${number}:${owner.line}`, isDisputed: false };
      } else if (known.source !== owner.source && piece.score >= known.score / 2) {
        told[at] = { ...known, isDisputed: true };
      }
    }
  }
  return told;
}

/** Where a line has characters besides those of a recorded line, that one was changed: then the origin of all of it is unknown. */
function forgetAltered(told: (Told | undefined)[], matches: readonly Match[], starts: readonly number[]): void {
  const altered = new Set<string>();
  for (const [line, match] of matches.entries()) {
    const characters = told.slice(starts[line], starts[line + 1]);
    if (!isOpen(match) || !characters.includes(undefined)) continue;
    for (const each of characters) if (each !== undefined) altered.add(each.owner);
  }
  for (const [at, each] of told.entries()) if (each !== undefined && altered.has(each.owner)) told[at] = undefined;
}

/** A line with this much text that equals a recorded one is hardly a part of another line. */
const wholeLine = 14;

/**
 * The match that the text around a line suggests. If recorded writes contain this very line, and none of them is the suggested
 * one, both are possible: a line may be broken, changed and joined again until it looks as before.
 */
function unlessBrought(said: Match, key: number, index: PassageIndex): Match {
  if (said.type === "unknown" || index.weight(key) < wholeLine) return said;
  const brought = index.sourcesOf(key);
  if (brought.size === 0 || brought.has(sourceOf(said))) return said;
  const candidates = [...new Set([sourceOf(said), ...brought])].filter((each) => each >= 0);
  return { type: "unknown", reason: "ambiguous", candidates };
}

/** The match of a line whose characters all have one source; otherwise undefined. */
function matchOf(told: readonly (Told | undefined)[]): Match | undefined {
  const [first] = told;
  if (first === undefined) return undefined;
  const sources = new Set<Source>();
  let isDisputed = false;
  for (const each of told) {
    // If someone extended a line, the rest of it is not enough.
    if (each === undefined) return undefined;
    sources.add(each.source);
    isDisputed ||= each.isDisputed;
  }
  if (isDisputed || sources.size > 1 || first.source === unsure) {
    return { type: "unknown", reason: "ambiguous", candidates: [...sources].filter((each) => each >= 0) };
  }
  return first.source === outside
    ? { type: "outside", method: "rewrapped", confidence: 0.9 }
    : { type: "write", write: first.source, method: "rewrapped", confidence: 0.9 };
}

/** What a line is said to be by its run of lines, unless a longer piece of text says something else. */
function corrected(match: Match, said: Match, told: readonly (Told | undefined)[], runScore: number): Match {
  if (match.type === "unknown" || said.type === "unknown" || sourceOf(match) === sourceOf(said)) return match;
  const score = Math.min(...told.map((each) => each?.score ?? 0));
  if (score <= runScore) return match;
  // Text that was changed and changed back may have either origin.
  if (score >= runScore * clearly && told.every((each) => each?.isLatest === true)) return said;
  const candidates = [sourceOf(match), sourceOf(said)].filter((each) => each >= 0);
  return { type: "unknown", reason: "ambiguous", candidates };
}

/**
 * A comma or an open bracket continues on the next line. If that is unknown, a short line may be part of a longer one that was
 * broken.
 */
function withoutBeginnings(
  lines: readonly string[],
  matches: readonly Match[],
  known: MatchedLines,
  starts: readonly number[],
): readonly Match[] {
  return matches.map((match, line) => {
    const goesOn = /[,([{]\s*$/.test(lines[line] ?? "") && isOpen(matches[line + 1]);
    if (!goesOn || match.type === "unknown" || match.method === "rewrapped") return match;
    return known.runScore(line, starts) < littleBeforeUnknown ? notRecorded : match;
  });
}

function sourceOf(match: Exclude<Match, { readonly type: "unknown" }>): Source {
  return match.type === "write" ? match.write : outside;
}

function isOpen(match: Match | undefined): boolean {
  return match?.type === "unknown" && match.reason === "not-recorded";
}
