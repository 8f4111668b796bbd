import { wholeChange } from "@gennai/protocol/apply-review";
import { sha256Hex } from "@gennai/protocol/digest";
import { type LineHunk, type LineSpan, lineHunks, linesOf, placeSpans, withLines } from "./line-hunks.ts";

/** A file that the agent changed since its user last looked. Texts; undefined: there was no file. */
export interface UnseenFile {
  /** Relative to the workspace, with forward slashes. */
  readonly path: string;
  /** The text that the user knows. */
  readonly base: string | undefined;
  /** The text that the agent left. */
  readonly agent: string | undefined;
  /** The path at which the user knows it; undefined: this one. */
  readonly movedFrom?: string | undefined;
}

/** What is decided about the file itself, and not about its lines. */
export function fileChange({ base, agent, movedFrom }: UnseenFile): "rename" | "delete" | undefined {
  if (movedFrom !== undefined) return "rename";
  return agent === undefined && base !== undefined ? "delete" : undefined;
}

/** One change of the agent that the user has not seen. */
export interface UnseenHunk extends LineHunk {
  /** Made of its content: after a change of the text, it names no other hunk. */
  readonly id: string;
  readonly oldLines: readonly string[];
  readonly freshLines: readonly string[];
}

export function unseenHunks({ base = "", agent = "" }: UnseenFile): readonly UnseenHunk[] {
  const old = linesOf(base);
  const fresh = linesOf(agent);
  return lineHunks(old, fresh).map((hunk) => {
    const oldLines = old.slice(hunk.old.start, hunk.old.end);
    const freshLines = fresh.slice(hunk.fresh.start, hunk.fresh.end);
    const digest = sha256Hex(`${oldLines.join("")}\0${freshLines.join("")}`).slice(0, 12);
    return { ...hunk, id: `${hunk.fresh.start}-${digest}`, oldLines, freshLines };
  });
}

/** Positions of hunks in the present file; undefined for those whose lines the user has changed. */
export function placedHunks(
  { agent = "" }: UnseenFile,
  hunks: readonly UnseenHunk[],
  now: string,
): readonly (LineSpan | undefined)[] {
  const lines = linesOf(now);
  const written = linesOf(agent);
  return (
    placedBesideUndone(written, hunks, lines) ??
    placeSpans(
      hunks.map((hunk) => hunk.fresh),
      written,
      lines,
    )
  );
}

/** Most positions that are tried for one hunk. */
const mostPlaces = 50;

/**
 * Positions of hunks in a text that equals the agent's, except for some hunks taken back. This is exact even if a comparison
 * could not tell which of several equal lines was removed. undefined: the text differs otherwise.
 */
function placedBesideUndone(
  written: readonly string[],
  hunks: readonly UnseenHunk[],
  now: readonly string[],
): readonly (LineSpan | undefined)[] | undefined {
  type Step = { readonly span: LineSpan | undefined; readonly before: Step | undefined };
  /** Numbers of lines of `now` that are matched so far, and how. */
  let reached = new Map<number, Step | undefined>([[0, undefined]]);
  let from = 0;
  for (const hunk of hunks) {
    const next = new Map<number, Step>();
    const between = written.slice(from, hunk.fresh.start);
    for (const [at, before] of reached) {
      const start = at + between.length;
      if (!standsAt(now, at, between)) continue;
      const end = start + hunk.freshLines.length;
      if (standsAt(now, start, hunk.freshLines) && !next.has(end)) next.set(end, { span: { start, end }, before });
      const undone = start + hunk.oldLines.length;
      if (standsAt(now, start, hunk.oldLines) && !next.has(undone)) next.set(undone, { span: undefined, before });
    }
    if (next.size === 0 || next.size > mostPlaces) return undefined;
    reached = next;
    from = hunk.fresh.end;
  }
  const rest = written.slice(from);
  for (const [at, last] of reached) {
    if (at + rest.length !== now.length || !standsAt(now, at, rest)) continue;
    const spans: (LineSpan | undefined)[] = [];
    for (let step = last; step !== undefined; step = step.before) spans.push(step.span);
    return spans.reverse();
  }
  return undefined;
}

function standsAt(lines: readonly string[], at: number, wanted: readonly string[]): boolean {
  return wanted.every((line, index) => lines[at + index] === line);
}

/**
 * The file's text without hunks, or without all that can be found; other lines keep their ends. undefined: the lines are no longer as
 * the agent left them.
 */
export function withoutHunks(file: UnseenFile, hunkIds: readonly string[] | "all", now: string): string | undefined {
  const hunks = unseenHunks(file);
  const placed = placedHunks(file, hunks, now);
  let lines = linesWithEnds(now);
  const end = lines.find((line) => /[\r\n]$/.test(line))?.endsWith("\r\n") === true ? "\r\n" : "\n";
  let found = 0;
  for (const [at, hunk] of [...hunks.entries()].reverse()) {
    const span = placed[at];
    if (span === undefined || (hunkIds !== "all" && !hunkIds.includes(hunk.id))) continue;
    const put = hunk.oldLines.map((line) => line.replace(/\n$/, end));
    lines = withLines(lines, span, put);
    found++;
  }
  return found === 0 || (hunkIds !== "all" && found < hunkIds.length) ? undefined : lines.join("");
}

/** The file after the user has seen its rename or deletion, or one hunk, which then belongs to `base`. undefined: nothing is left. */
export function afterLooking(file: UnseenFile, hunkId: string): UnseenFile | undefined {
  const hunks = unseenHunks(file);
  if (hunkId === wholeChange)
    return fileChange(file) === "rename" && hunks.length > 0 ? { ...file, movedFrom: undefined } : undefined;
  const hunk = hunks.find(({ id }) => id === hunkId);
  if (hunk === undefined) return file;
  return stillUnseen({ ...file, base: withLines(linesOf(file.base ?? ""), hunk.old, hunk.freshLines).join("") });
}

/**
 * The file after the agent wrote again. The user knows their own changes since the agent's last write, and hunks that they
 * changed. undefined: no hunk is left.
 * @param before the text that the agent found
 * @param after the text that the agent left
 */
export function afterWrite(
  path: string,
  file: UnseenFile | undefined,
  before: string | undefined,
  after: string | undefined,
): UnseenFile | undefined {
  const base = baseBefore(file, before);
  const movedFrom = file?.movedFrom;
  // What is gone now is the file that the user knows.
  if (after === undefined && movedFrom !== undefined) return { path: movedFrom, base, agent: after };
  return stillUnseen({ path, base, agent: after, movedFrom });
}

/** A file with this text got another path. */
export interface FileMove {
  readonly from: string;
  readonly to: string;
  readonly text: string | undefined;
  /** True if a person took a rename back. */
  readonly isUndo: boolean;
}

/**
 * The file after the agent, or a person who took that back, gave it another path. undefined: nothing is left.
 * @param file at the old path
 */
export function afterMove(file: UnseenFile | undefined, { from, to, text, isUndo }: FileMove): UnseenFile | undefined {
  const base = baseBefore(file, text);
  // A person who takes back a rename has seen it.
  const known = file?.movedFrom ?? (isUndo ? to : from);
  return stillUnseen({
    path: to,
    base,
    agent: text,
    movedFrom: known === to || base === undefined ? undefined : known,
  });
}

/**
 * The file after a person took back something that the agent had written. The person knows what that changed, so that no new hunk
 * appears. undefined: no hunk is left.
 * @param before the text that was taken back
 * @param after the text that was restored
 */
export function afterUndo(
  file: UnseenFile,
  before: string | undefined,
  after: string | undefined,
): UnseenFile | undefined {
  const base = baseBefore(file, before);
  const restored = stillUnseen({ ...file, base, agent: after });
  if (restored === undefined || isSame(base, after)) return restored;
  const unseen = unseenHunks({ path: file.path, base, agent: before });
  const hunks = unseenHunks(restored);
  const known = hunks.filter(
    (hunk) => !unseen.some(({ old }) => old.start <= hunk.old.end && hunk.old.start <= old.end),
  );
  if (known.length === hunks.length) return stillUnseen({ ...restored, base: after });
  if (known.length === 0) return restored;
  let lines = linesOf(base ?? "");
  for (const { old, freshLines } of known.toReversed()) lines = withLines(lines, old, freshLines);
  return { ...restored, base: lines.join("") };
}

/** True if a file has the content that the user knows. @param now undefined: it does not exist */
export function isAsKnown({ base, movedFrom }: UnseenFile, now: string | undefined): boolean {
  return movedFrom === undefined && isSame(base, now);
}

/** The file without a rename that its user took back. undefined: nothing is left. */
export function movedBack({ movedFrom, ...file }: UnseenFile): UnseenFile | undefined {
  return movedFrom === undefined ? file : stillUnseen({ ...file, path: movedFrom });
}

function stillUnseen(file: UnseenFile): UnseenFile | undefined {
  return isAsKnown(file, file.agent) ? undefined : file;
}

/** What the user knows of a text just before a change. */
function baseBefore(file: UnseenFile | undefined, before: string | undefined): string | undefined {
  if (file === undefined) return before;
  // If the agent had deleted the file, the user made the present one.
  if (file.agent === undefined) return before ?? file.base;
  return withUserEdits(file, before);
}

/** What the user knows after editing the file: the present text, without the hunks that are still in it. */
function withUserEdits(file: UnseenFile, now: string | undefined): string | undefined {
  if (now === undefined) return undefined;
  if (file.agent !== undefined && isSame(file.agent, now)) return file.base;
  const hunks = unseenHunks(file);
  let lines = linesOf(now);
  for (const [index, span] of [...placedHunks(file, hunks, now).entries()].reverse()) {
    const hunk = hunks[index];
    if (span !== undefined && hunk !== undefined) lines = withLines(lines, span, hunk.oldLines);
  }
  return file.base === undefined && lines.length === 0 ? undefined : lines.join("");
}

/** The lines of `linesOf`, each with its line end. */
function linesWithEnds(text: string): readonly string[] {
  return text.replace(/^\uFEFF/, "").match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}

/** Equal except for line ends. */
function isSame(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one === other || linesOf(one).join("") === linesOf(other).join("");
}
