import { createHash } from "node:crypto";
import { redactionMarker } from "@gennai/governance/redaction";
import { diffLines, type LineDiff } from "@gennai/protocol/diff/line-diff";
import type { LineEdit } from "@gennai/protocol/diff/line-edit";
import { matchByLines } from "./match-by-lines.ts";
import { matchRewrapped } from "./match-rewrapped.ts";
import { type Match, outside, type Passage, type Source, unsure } from "./passage.ts";
import { PassageIndex } from "./passage-index.ts";
import { RunningPieces } from "./running-pieces.ts";
import { linesOf, squeezed, tells } from "./text-lines.ts";

/** One file that a recorded call wrote, with as much of its contents as is still there. */
export interface TextWrite {
  /** The write that its lines are attributed to. */
  readonly write: Source;
  readonly path: string;
  readonly operation: "create" | "update" | "delete";
  /** Undefined if there was no file, or its content is no longer stored. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** True if it undid changes: restored lines belong to their original writers. */
  readonly isUndo: boolean;
  /** Texts of which a person changed parts, or `unknown`: the authors of their lines are uncertain. */
  readonly edited?: readonly string[] | "unknown";
  /** Simultaneous changes have the same number, deletions first; absent: its own. */
  readonly record?: number;
}

interface Version {
  readonly lines: readonly string[];
  readonly sources: readonly Source[];
}

/** Lines around a change that are kept with it, so that it is known among its neighbours. */
const context = 4;
/** Texts that are kept to be known as a whole. */
const maxVersions = 4_000;
const comparingMs = 1_000;
/** Longer texts are not looked into. */
const maxLines = 50_000;

/** The known texts of recorded calls, and the texts that these found: the source of each line. Pure. */
export class KnownText {
  readonly #index = new PassageIndex();
  readonly #pieces = new RunningPieces(this.#index);
  readonly #latest = new Map<string, Version>();
  readonly #versions = new Map<string, Version>();
  /** Texts deleted by the record that was taken last. */
  #leaving: { readonly record: number | undefined; readonly versions: Version[] } = { record: undefined, versions: [] };
  #isClosed = false;

  /** Takes the writes in the order in which they were made. */
  add(step: TextWrite): void {
    if (this.#isClosed) throw new TypeError("Nothing can be added any more.");
    if (step.record === undefined || step.record !== this.#leaving.record) {
      this.#leaving = { record: step.record, versions: [] };
    }
    const before = step.before === undefined ? undefined : this.#versionBefore(step.path, linesOf(step.before));
    if (step.operation === "delete") {
      const last = before ?? this.#latest.get(step.path);
      if (last !== undefined) {
        this.#index.add({ path: step.path, ...last, isWhole: true });
        this.#leaving.versions.push(last);
      }
      this.#latest.delete(step.path);
      return;
    }
    if (step.after === undefined) return;
    const lines = linesOf(step.after);
    if (lines.length > maxLines) return;
    const after = step.isUndo
      ? this.#restored(step.path, before, lines)
      : written(before ?? this.#movedFrom(lines), lines, step);
    this.#keep(step.path, before, after);
  }

  /** Adds a file's content at some place, with the write of each line as far as known. */
  addVersion(path: string, lines: readonly string[], sources: readonly Source[]): void {
    if (this.#isClosed) throw new TypeError("Nothing can be added any more.");
    if (lines.length <= maxLines) this.#keep(path, undefined, { lines, sources });
  }

  /** Call it after the last write. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const [path, version] of this.#latest) this.#index.add({ path, ...version, isWhole: true });
  }

  /** @param near paths that the file had, its own among them */
  match(text: string, near: ReadonlySet<string>): readonly Match[] {
    this.close();
    const lines = linesOf(text);
    const same = this.#versions.get(digestOf(lines));
    if (same !== undefined) {
      return same.sources.map((write): Match => {
        if (write === unsure) return { type: "unknown", reason: "ambiguous", candidates: [] };
        if (write === outside) return { type: "outside", method: "same-file", confidence: 1 };
        return { type: "write", write, method: "same-file", confidence: 1 };
      });
    }
    return this.#matchLines(lines, near);
  }

  #matchLines(lines: readonly string[], near: ReadonlySet<string>): readonly Match[] {
    if (lines.length > maxLines) return lines.map(() => ({ type: "unknown", reason: "not-recorded", candidates: [] }));
    const known = matchByLines(lines, this.#index, near);
    return matchRewrapped(lines, known, { pieces: this.#pieces, index: this.#index, near });
  }

  /** A very similar file that the same record deleted: a call that moves a file did not write its lines. */
  #movedFrom(lines: readonly string[]): Version | undefined {
    let best: { readonly version: Version; readonly shared: number } | undefined;
    for (const version of this.#leaving.versions) {
      const shared = [...unchanged(version.lines, lines)].length;
      const isMost = 2 * shared >= Math.max(version.lines.length, lines.length);
      if (isMost && shared > (best?.shared ?? 0)) best = { version, shared };
    }
    return best?.version;
  }

  /** A text after an undo, which brings no line of its own: what nothing else explains is nobody's. */
  #restored(path: string, before: Version | undefined, lines: readonly string[]): Version {
    const same = this.#versions.get(digestOf(lines));
    if (same !== undefined) return same;
    const sources = matchByLines(lines, this.#index, new Set([path])).matches.map((match): Source => {
      if (match.type === "write") return match.write;
      return match.type === "outside" ? outside : unsure;
    });
    for (const [at, from] of unchanged(before?.lines ?? [], lines)) sources[at] = before?.sources[from] ?? unsure;
    return { lines, sources };
  }

  /** The text that a call found: its known lines, and those from elsewhere since. */
  #versionBefore(path: string, lines: readonly string[]): Version {
    const same = this.#versions.get(digestOf(lines));
    if (same !== undefined) return same;
    const last = this.#latest.get(path);
    const sources: Source[] = lines.map(() => outside);
    const known = lines.map(() => false);
    if (last !== undefined) {
      for (const [at, from] of surelyUnchanged(last.lines, lines)) {
        sources[at] = last.sources[from] ?? outside;
        known[at] = true;
      }
      for (const at of slides(last, lines)) if (known[at] === true) sources[at] = unsure;
    }
    // Not written here by a recorded call: but perhaps somewhere else. Each piece by itself, without what is known around it.
    for (let first = known.indexOf(false); first !== -1; first = known.indexOf(false, first)) {
      const next = known.indexOf(true, first);
      const end = next === -1 ? lines.length : next;
      const { matches } = matchByLines(lines.slice(first, end), this.#index, new Set());
      for (const [from, to] of sameSource(matches)) {
        const piece = lines.slice(first + from, first + to);
        if (piece.length < surelyMoved.lines || told(piece) < surelyMoved.characters) continue;
        for (let at = from; at < to; at += 1) {
          const match = matches[at];
          if (match?.type === "write") sources[first + at] = match.write;
        }
      }
      first = end;
    }
    const version = { lines, sources };
    this.#know(version);
    if (last === undefined) this.#index.add({ path, ...version, isWhole: true });
    else this.#addChanged(path, version, edits(last.lines, lines));
    return version;
  }

  #keep(path: string, before: Version | undefined, after: Version): void {
    this.#latest.set(path, after);
    this.#know(after);
    this.#addChanged(path, after, edits(before?.lines ?? [], after.lines));
  }

  #know(version: Version): void {
    const digest = digestOf(version.lines);
    // As it is known last: the same text may have come from elsewhere meanwhile.
    this.#versions.delete(digest);
    this.#versions.set(digest, version);
    if (this.#versions.size > maxVersions) {
      for (const oldest of this.#versions.keys()) {
        this.#versions.delete(oldest);
        break;
      }
    }
  }

  #addChanged(path: string, { lines, sources }: Version, changes: readonly LineEdit[]): void {
    let end = 0;
    for (const change of changes) {
      if (change.newCount === 0) continue;
      const start = Math.max(end, change.newStart - 1 - context);
      end = Math.min(lines.length, change.newStart - 1 + change.newCount + context);
      if (end <= start) continue;
      const passage: Passage = {
        path,
        lines: lines.slice(start, end),
        sources: sources.slice(start, end),
        isWhole: false,
      };
      this.#index.add(passage);
    }
  }
}

/** A text after a call wrote it: lines that the call did not change keep their source. */
function written(
  before: Version | undefined,
  lines: readonly string[],
  { write, edited = [] }: Pick<TextWrite, "write" | "edited">,
): Version {
  // A text with a mask in it is not the one that was written.
  const texts = edited === "unknown" || edited.some((text) => text.includes(redactionMarker)) ? undefined : edited;
  const doubtful = new Set(texts?.flatMap(linesOf).map(squeezed));
  const isUnknown = texts === undefined;
  const sources: Source[] = lines.map((line) => (isUnknown || doubtful.has(squeezed(line)) ? unsure : write));
  if (before !== undefined) {
    for (const [at, from] of unchanged(before.lines, lines)) sources[at] = before.sources[from] ?? outside;
  }
  return { lines, sources };
}

/** Pairs of a line of the new text and the line of the old one that it is. 0-based. */
function* unchanged(
  old: readonly string[],
  lines: readonly string[],
): Generator<readonly [at: number, from: number], void, undefined> {
  let at = 0;
  let from = 0;
  for (const edit of edits(old, lines)) {
    while (at < edit.newStart - 1) yield [at++, from++];
    at += edit.newCount;
    from += edit.oldCount;
  }
  while (at < lines.length) yield [at++, from++];
}

/** A block that came from elsewhere between two recorded writes is at least this long; a shorter one may be typed again. */
const surelyMoved = { lines: 5, characters: 140 };

/** Where consecutive lines are of one write. */
function* sameSource(matches: readonly Match[]): Generator<readonly [from: number, to: number], void, undefined> {
  const writes = matches.map((match) => (match.type === "write" ? match.write : undefined));
  for (let from = 0; from < writes.length; ) {
    let to = from + 1;
    while (writes[from] !== undefined && writes[to] === writes[from]) to += 1;
    yield [from, to];
    from = to;
  }
}

function told(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + tells(squeezed(line)), 0);
}

/** Runs shorter than this, with all lines occurring elsewhere in the file, may only look unchanged. */
const surelyInARow = 8;
/** A line that tells less may be typed again where the old one was taken out, in characters. */
const surelyOne = 12;

/** The same pairs, without those between changes that could also be another place of a repetitive file. */
function* surelyUnchanged(
  old: readonly string[],
  lines: readonly string[],
): Generator<readonly [at: number, from: number], void, undefined> {
  const [inOld, inNew] = [counted(old), counted(lines)];
  let row: (readonly [number, number])[] = [];
  const isSure = (): boolean =>
    row.length >= surelyInARow ||
    row.some(([at]) => {
      const text = squeezed(lines[at] ?? "");
      return inOld.get(text) === 1 && inNew.get(text) === 1 && tells(text) >= surelyOne;
    });
  for (const pair of unchanged(old, lines)) {
    const last = row.at(-1);
    if (last !== undefined && (last[0] + 1 !== pair[0] || last[1] + 1 !== pair[1])) {
      if (isSure()) yield* row;
      row = [];
    }
    row.push(pair);
  }
  if (isSure()) yield* row;
}

/**
 * Lines that stayed, beside a change that could as well be a little higher or lower: after a function was put in between two others,
 * nobody can say whose closing bracket is the old one. 0-based, in the new text.
 */
function* slides(last: Version, lines: readonly string[]): Generator<number, void, undefined> {
  const { lines: old, sources } = last;
  for (const { oldStart, oldCount, newStart, newCount } of edits(old, lines)) {
    const [from, at] = [oldStart - 1, newStart - 1];
    if (oldCount === 0) {
      for (let up = at - 1; up >= 0 && lines[up] === lines[up + newCount]; up -= 1) yield up;
      for (let down = at + newCount; down < lines.length && lines[down] === lines[down - newCount]; down += 1)
        yield down;
    } else if (newCount === 0) {
      for (let up = 1; from - up >= 0 && old[from - up] === old[from - up + oldCount]; up += 1) {
        if (sources[from - up] !== sources[from - up + oldCount]) yield at - up;
      }
      for (
        let down = 0;
        from + oldCount + down < old.length && old[from + oldCount + down] === old[from + down];
        down += 1
      ) {
        if (sources[from + oldCount + down] !== sources[from + down]) yield at + down;
      }
    }
  }
}

function counted(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(squeezed(line), (counts.get(squeezed(line)) ?? 0) + 1);
  return counts;
}

function edits(old: readonly string[], lines: readonly string[]): LineDiff["edits"] {
  return diffLines(old.map((line) => `${line}\n`).join(""), lines.map((line) => `${line}\n`).join(""), {
    timeoutMs: comparingMs,
  }).edits;
}

function digestOf(lines: readonly string[]): string {
  const hash = createHash("sha256");
  for (const line of lines) hash.update(`${line}\n`);
  return hash.digest("hex");
}
