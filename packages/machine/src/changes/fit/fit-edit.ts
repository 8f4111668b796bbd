import { diffLines } from "@gennai/protocol/diff/line-diff";
import { countLineFeeds, countLines, splitLines } from "@gennai/protocol/diff/line-edit";
import { ComparingTime } from "./comparing-time.ts";
import { type FittingText, type SearchedText, trimmedLines } from "./fitting-text.ts";
import { hasLookAlikes, isBorder, type LooseText, looseText, originalOffset } from "./loose-text.ts";
import { indentationShift } from "./shift-indentation.ts";

/** In what a model's text may differ from the file's; the smallest difference first. */
export const fitSteps = [
  "white space at the ends of lines",
  "indentation",
  "characters that look alike",
  "indentation and characters that look alike",
] as const;
export type FitStep = (typeof fitSteps)[number];

/** A text to replace, and its replacement. */
export interface WantedEdit {
  readonly oldText: string;
  readonly newText: string;
}

export type Fit =
  /** The edit with the file's own text: `oldText` is at `start`, and nowhere else. */
  | ({ readonly type: "one"; readonly step: FitStep; readonly start: number } & WantedEdit)
  /** Offsets, ascending. */
  | { readonly type: "several"; readonly step: FitStep; readonly starts: readonly number[] };

/** Longest file that is searched inexactly, in characters; larger ones take exact edits only. */
const maxLength = 1024 * 1024;
/** Most places with equal words whose indentation is compared; a text with more identifies no place. */
const maxTried = 1000;
/** Most characters, and lines, that are compared for one text; a text that occurs so often identifies no place. */
const mostCompared = { characters: 2 ** 26, lines: 2 ** 18 } as const;

/**
 * Finds the place of a text that matches the file inexactly. Parts that the old and new text have in common stay as in the file;
 * only their differences change. The first step with a fitting place decides. undefined if none has one.
 * @param options.wholeLines the old text begins at the start of a line
 * @param options.from only places from this offset on
 * @param options.time shared by all edits of one call
 */
export function fitEdit(
  fitting: FittingText,
  wanted: WantedEdit,
  {
    wholeLines = false,
    from = 0,
    time = new ComparingTime(),
  }: { readonly wholeLines?: boolean; readonly from?: number; readonly time?: ComparingTime } = {},
): Fit | undefined {
  const { text } = fitting;
  if (text.length > maxLength || wanted.oldText.length > maxLength || !/\S/.test(wanted.oldText)) return undefined;
  for (const step of fitSteps) {
    const lookAlikes = step.endsWith("alike");
    if (lookAlikes && !hasLookAlikes(text) && !hasLookAlikes(wanted.oldText)) break;
    const form = fitting.form(lookAlikes);
    const file = form.loose;
    const accepts = (at: number) =>
      (!wholeLines || at === 0 || file.text[at - 1] === "\n") && originalOffset(file, at) >= from;
    const places = placesOf(text, form, wanted, step, accepts);
    const [place] = places;
    if (place === undefined) continue;
    if (places.length > 1) return { type: "several", step, starts: places.map(({ at }) => originalOffset(file, at)) };
    if (place.edit === undefined) continue;
    const fitted = placed(text, file, place.at, place.edit, lookAlikes, time);
    const starts = exactPlaces(text, fitted.oldText, from);
    return starts.length > 1 ? { type: "several", step, starts } : { type: "one", step, ...fitted };
  }
  return undefined;
}

/** An edit whose old text begins at an offset of the loose text. */
interface Place {
  readonly at: number;
  /** undefined if the new text cannot be shifted like the old one. */
  readonly edit: WantedEdit | undefined;
}

function placesOf(
  text: string,
  form: SearchedText,
  wanted: WantedEdit,
  step: FitStep,
  accepts: (at: number) => boolean,
): readonly Place[] {
  const lookAlikes = step.endsWith("alike");
  const find = step.startsWith("indentation") ? shiftedPlaces : loosePlaces;
  const places = find(form, wanted, looseText(wanted.oldText, { lookAlikes }), accepts);
  if (places.length > 0 || !wanted.oldText.endsWith("\n") || text.endsWith("\n")) return places;
  // The file's last line has no line end.
  const open = { oldText: withoutLineEnd(wanted.oldText), newText: withoutLineEnd(wanted.newText) };
  const lastLines = open.oldText.split("\n").length;
  return find(form, open, looseText(open.oldText, { lookAlikes }), accepts).filter(
    ({ at }) => countLineFeeds(form.loose.text, at) === lastLines - 1,
  );
}

function loosePlaces(
  { loose: file }: SearchedText,
  edit: WantedEdit,
  old: LooseText,
  accepts: (at: number) => boolean,
): readonly Place[] {
  // The model means an empty line, not the end of some line.
  const atLineStart = old.text.startsWith("\n");
  const atLineEnd = originalOffset(old, old.text.length) !== edit.oldText.length;
  const places: Place[] = [];
  let compared = 0;
  for (let at = file.text.indexOf(old.text); at !== -1; at = file.text.indexOf(old.text, at + 1)) {
    compared += old.text.length;
    if (compared > mostCompared.characters) return severalOf(places);
    const end = at + old.text.length;
    if (!isBorder(file, at) || !isBorder(file, end)) continue;
    if (atLineStart && at > 0 && file.text[at - 1] !== "\n") continue;
    if (atLineEnd && end < file.text.length && file.text[end] !== "\n") continue;
    if (accepts(at)) places.push({ at, edit });
  }
  return places;
}

/** The result of an aborted search: a single place found so far might not be the only one. */
function severalOf(places: readonly Place[]): readonly Place[] {
  return places.length > 1 ? places : [];
}

/** Whole lines with equal words, all shifted by the same indentation. */
function shiftedPlaces(
  form: SearchedText,
  wanted: WantedEdit,
  old: LooseText,
  accepts: (at: number) => boolean,
): readonly Place[] {
  const closed = wanted.oldText.endsWith("\n");
  const wantedBodies = `\n${trimmedLines(closed ? withoutLineEnd(old.text) : old.text)}\n`;
  const fileBodies = form.bodies;
  const oldLines = withoutLineEnd(wanted.oldText).split("\n");
  const places: Place[] = [];
  let line = 0;
  let counted = 0;
  let tried = 0;
  for (let at = fileBodies.indexOf(wantedBodies); at !== -1; at = fileBodies.indexOf(wantedBodies, at + 1)) {
    tried += 1;
    if (tried > maxTried) return [];
    if (tried * oldLines.length > mostCompared.lines) return severalOf(places);
    line += countLineFeeds(fileBodies, counted, at);
    counted = at;
    const start = form.loose.lines[line]?.at ?? 0;
    if (!accepts(start)) continue;
    if (closed && line + oldLines.length >= form.lines.length) continue;
    const pairs = oldLines.flatMap((each, index) => {
      if (each.trim() === "") return [];
      return [{ wanted: indentOf(each), found: indentOf(form.lines[line + index] ?? "") }];
    });
    const shift = indentationShift(pairs);
    if (shift === undefined) continue;
    const oldText = shifted(wanted.oldText, shift);
    const newText = shifted(wanted.newText, shift);
    const edit = oldText === undefined || newText === undefined ? undefined : { oldText, newText };
    places.push({ at: start, edit });
  }
  return places;
}

/** The edit with the file's own text. */
function placed(text: string, file: LooseText, at: number, edit: WantedEdit, lookAlikes: boolean, time: ComparingTime) {
  const old = looseText(edit.oldText, { lookAlikes });
  const offsetOf = (offset: number) => originalOffset(file, at + offset);
  const start = offsetOf(0);
  const pieces: string[] = [];
  let copied = start;
  for (const change of differences(edit, old, looseText(edit.newText, { lookAlikes }), time)) {
    pieces.push(text.slice(copied, offsetOf(change.start)), change.text);
    copied = offsetOf(change.end);
    // The white space of a blank line goes with it when words take its place.
    if (/[^\n]$/.test(change.text) && (copied === 0 || text[copied - 1] === "\n")) {
      copied += /^[^\S\n]*(?![^\n])/.exec(text.slice(copied))?.[0].length ?? 0;
    }
  }
  const end = Math.max(copied, offsetOf(old.text.length));
  return { start, oldText: text.slice(start, end), newText: pieces.join("") + text.slice(copied, end) };
}

/** The differences between the old and the new text: by lines, and within lines only the part between common ends. */
function differences(wanted: WantedEdit, old: LooseText, fresh: LooseText, time: ComparingTime) {
  const { oldText, newText } = wanted;
  const newLines = countLines(newText);
  const lineAt = ({ text, lines }: LooseText, line: number) => lines[line - 1]?.at ?? text.length;
  const { edits } = time.spend((timeoutMs) => diffLines(oldText, newText, { timeoutMs }));
  return edits.map((edit) => {
    let start = lineAt(old, edit.oldStart);
    let end = lineAt(old, edit.oldStart + edit.oldCount);
    let from = lineAt(fresh, edit.newStart);
    let to = lineAt(fresh, edit.newStart + edit.newCount);
    const same = (one: number, other: number) => rawAt(oldText, old, one) === rawAt(newText, fresh, other);
    while (start < end && from < to && same(start, from)) {
      start += 1;
      from += 1;
    }
    while (end > start && to > from && same(end - 1, to - 1)) {
      end -= 1;
      to -= 1;
    }
    // White space at the very end is not part of the loose text.
    const isEnd = edit.newCount > 0 && edit.newStart + edit.newCount > newLines && to === fresh.text.length;
    const newEnd = isEnd ? newText.length : originalOffset(fresh, to);
    return { start, end, text: newText.slice(originalOffset(fresh, from), newEnd) };
  });
}

/** The original text of a character of the loose text. */
function rawAt(original: string, loose: LooseText, at: number): string {
  return original.slice(originalOffset(loose, at), originalOffset(loose, at + 1));
}

function shifted(text: string, shift: (indent: string) => string | undefined): string | undefined {
  const lines: string[] = [];
  for (const line of splitLines(text)) {
    const indent = indentOf(line);
    const moved = line.trim() === "" ? indent : shift(indent);
    if (moved === undefined) return undefined;
    lines.push(moved + line.slice(indent.length));
  }
  return lines.join("");
}

function exactPlaces(text: string, wanted: string, from: number): readonly number[] {
  const places: number[] = [];
  let compared = 0;
  for (let at = text.indexOf(wanted, from); at !== -1; at = text.indexOf(wanted, at + 1)) {
    places.push(at);
    compared += wanted.length;
    if (compared > mostCompared.characters) break;
  }
  return places;
}

function indentOf(line: string): string {
  return /^[^\S\n]*/.exec(line)?.[0] ?? "";
}

function withoutLineEnd(text: string): string {
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}
