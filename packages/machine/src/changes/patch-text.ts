import { ToolFailure } from "@gennai/governance/tool-error";
import { countLineFeeds } from "@gennai/protocol/diff/line-edit";
import { ComparingTime } from "./fit/comparing-time.ts";
import { type FitStep, fitEdit } from "./fit/fit-edit.ts";
import { FittingText } from "./fit/fitting-text.ts";
import { nearestMatch } from "./fit/nearest-match.ts";
import { changesNothing, type PatchHunk } from "./parse-patch.ts";
import { lineEnd } from "./splice-text.ts";

/** A search for a text stops at this many places; one less is shown. */
const mostPlaces = 6;

export interface PatchedText {
  readonly text: string;
  /** Hunks that match the file only inexactly, by number from 1. */
  readonly fitted: readonly { readonly hunk: number; readonly differing: FitStep }[];
}

/**
 * Applies hunks in order, on whole lines. A hunk's place is the only one that fits after the hunk before, or with sections (`@@
 * def f():`) the first one after the last section. The first section must occur exactly once. A hunk of context only is a section for the
 * one behind it, as Codex has it: https://github.com/openai/codex/blob/main/codex-rs/apply-patch/src/lib.rs. Throws `ToolFailure` `no_match`,
 * `ambiguous_match`.
 * @param text lines end with LF
 * @param name name of the file, for messages
 * @param time shared by all files of one patch
 */
export function patchText(
  text: string,
  hunks: readonly PatchHunk[],
  name: string,
  time = new ComparingTime(),
): PatchedText {
  const open = text !== "" && !text.endsWith("\n");
  const patch = new PatchInWork(open ? `${text}\n` : text, time);
  const fitted: { hunk: number; differing: FitStep }[] = [];
  for (const [index, hunk] of hunks.entries()) {
    const label = hunks.length === 1 ? name : `${name} (hunk ${index + 1})`;
    const before = hunks[index - 1];
    const inSection = hunk.sections.length > 0 || (before !== undefined && changesNothing(before));
    const start = behindSections(patch, hunk.sections, label);
    const place = placeOf(patch, { start, inSection }, hunk, label);
    if (changesNothing(hunk)) {
      patch.pass(place);
      continue;
    }
    if (place.differing !== undefined) fitted.push({ hunk: index + 1, differing: place.differing });
    patch.put(place);
  }
  const patched = patch.now();
  return { text: open && patched.endsWith("\n") ? patched.slice(0, -1) : patched, fitted };
}

/** A patch that is being applied. Offsets refer to the text before it: all after the last hunk is still unchanged. */
class PatchInWork {
  readonly fitting: FittingText;
  readonly time: ComparingTime;
  /** Offset after the last hunk. */
  from = 0;
  readonly #done: string[] = [];

  constructor(text: string, time: ComparingTime) {
    this.fitting = new FittingText(text);
    this.time = time;
  }

  get text(): string {
    return this.fitting.text;
  }

  put({ start, end, newText }: HunkMatch): void {
    this.#done.push(this.text.slice(this.from, start), newText);
    this.from = end;
  }

  /** Leaves a place as it is. */
  pass({ end }: HunkMatch): void {
    this.#done.push(this.text.slice(this.from, end));
    this.from = end;
  }

  now(): string {
    return this.#done.join("") + this.text.slice(this.from);
  }

  /** Line number, from 1, in the text as patched so far. */
  lineAt(offset: number): number {
    return countLineFeeds(this.#done.join("")) + countLineFeeds(this.text, this.from, offset) + 1;
  }
}

/** @returns the offset of the beginning of the line after the sections */
function behindSections(patch: PatchInWork, sections: readonly string[], name: string): number {
  let start = patch.from;
  for (const [depth, section] of sections.entries()) {
    const places = linesThatSay(patch.text, section.trim(), start, depth === 0 ? mostPlaces : 1);
    const [place] = places;
    if (place === undefined)
      throw noMatch(`The line behind @@, ${JSON.stringify(section)}, is not in ${name}`, patch, section);
    if (places.length > 1 && depth === 0)
      throw ambiguous(`The line behind @@, ${JSON.stringify(section)},`, places, patch, name);
    start = lineEnd(patch.text, place);
  }
  return start;
}

/** Beginnings of lines that are this text, apart from white space around it. */
function linesThatSay(text: string, wanted: string, from: number, most: number): readonly number[] {
  const places: number[] = [];
  let at = text.indexOf(wanted, from);
  while (at !== -1 && at < text.length && places.length < most) {
    const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
    const end = lineEnd(text, at);
    if (text.slice(start, end).trim() === wanted) places.push(start);
    at = text.indexOf(wanted, end);
  }
  return places;
}

interface HunkMatch {
  readonly start: number;
  readonly end: number;
  readonly newText: string;
  readonly differing?: FitStep;
}

/**
 * @param where.start offset of the beginning of a line
 * @param where.inSection the first place that fits is meant
 */
function placeOf(
  patch: PatchInWork,
  { start, inSection }: { readonly start: number; readonly inSection: boolean },
  hunk: PatchHunk,
  name: string,
): HunkMatch {
  const { text } = patch;
  const oldText = hunk.oldLines.map((line) => `${line}\n`).join("");
  const newText = hunk.newLines.map((line) => `${line}\n`).join("");
  if (oldText === "") {
    const at = inSection && !hunk.endOfFile ? start : text.length;
    return { start: at, end: at, newText };
  }
  const places = hunk.endOfFile
    ? lastLines(text, oldText, start)
    : wholeLines(text, oldText, start, inSection ? 1 : mostPlaces);
  const [place] = places;
  if (places.length > 1 && !inSection) throw ambiguous("The old lines", places, patch, name);
  if (place !== undefined) return { start: place, end: place + oldText.length, newText };

  const fit = fitEdit(patch.fitting, { oldText, newText }, { wholeLines: true, from: start, time: patch.time });
  if (fit?.type === "several") throw ambiguous(`But for ${fit.step}, the old lines`, fit.starts, patch, name);
  if (fit === undefined) {
    const line = patch.lineAt(start);
    throw noMatch(`The old lines are not in ${name}${line > 1 ? ` from line ${line} on` : ""}`, patch, oldText);
  }
  const end = lineEnd(text, fit.start + fit.oldText.length - 1);
  if (hunk.endOfFile && end !== text.length) {
    throw noMatch(`The old lines are not the last ones of ${name}`, patch, oldText);
  }
  return { start: fit.start, end, newText: fit.newText, differing: fit.step };
}

/** Offsets of whole lines that are this text. */
function wholeLines(text: string, lines: string, from: number, most: number): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(lines, from); at !== -1 && places.length < most; at = text.indexOf(lines, at + 1)) {
    if (at === from || text[at - 1] === "\n") places.push(at);
  }
  return places;
}

function lastLines(text: string, lines: string, from: number): readonly number[] {
  const at = text.length - lines.length;
  const isThere = at >= from && text.endsWith(lines) && (at === from || text[at - 1] === "\n");
  return isThere ? [at] : [];
}

function noMatch(problem: string, patch: PatchInWork, wanted: string): ToolFailure {
  return new ToolFailure("no_match", `${problem}; nothing was changed.`, {
    hint: nearestMatch(patch.now(), wanted),
    retryable: true,
  });
}

/** @param places offsets */
function ambiguous(what: string, places: readonly number[], patch: PatchInWork, name: string): ToolFailure {
  const isMore = places.length >= mostPlaces;
  const shown = places.slice(0, mostPlaces - 1).map((place) => patch.lineAt(place));
  return new ToolFailure(
    "ambiguous_match",
    `${what} fit at ${isMore ? "more than " : ""}${shown.length} places in ${name} (lines ${shown.join(", ")}${isMore ? ", …" : ""}); nothing was changed.`,
    { hint: "Add lines around the change, or name the section that it is in behind @@.", retryable: true },
  );
}
