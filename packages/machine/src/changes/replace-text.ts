import { redactionMarker } from "@gennai/governance/redaction";
import { ToolFailure } from "@gennai/governance/tool-error";
import { countLineFeeds } from "@gennai/protocol/diff/line-edit";
import { ComparingTime } from "./fit/comparing-time.ts";
import { type FitStep, fitEdit, type WantedEdit } from "./fit/fit-edit.ts";
import { FittingText } from "./fit/fitting-text.ts";
import { nearestMatch } from "./fit/nearest-match.ts";
import { hasNumberedLines, withoutLineNumbers } from "./fit/without-line-numbers.ts";
import { type SplicedText, spliceText } from "./splice-text.ts";

export interface Replacement extends WantedEdit {
  readonly replaceAll: boolean;
}

export interface ReplacedText extends SplicedText {
  /** Set if the old text does not occur in the file exactly as given. */
  readonly fitted?: FittedReplacement;
}

/** An edit with the file's own text. */
export interface FittedReplacement extends WantedEdit {
  /** In what the given text differs, e.g. `indentation`. */
  readonly differing: FitStep | "line numbers";
  /** Lines of the place in the text before the edit; 1-based, inclusive. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/**
 * Replaces a text that must occur exactly once, unless all occurrences are meant. If there is no exact match, the only place is
 * used that differs in white space, line numbers or similar-looking characters. Throws `ToolFailure` `masked_text` if the model
 * took a mask for the text, `no_match` with the nearest place as hint, `ambiguous_match` with the count and the lines.
 * @param name name of the file, for messages
 * @param options.exactly accepts no inexact match
 * @param options.time shared by all edits of one call
 */
export function replaceText(
  text: string,
  replacement: Replacement,
  name: string,
  { exactly = false, time = new ComparingTime() }: { readonly exactly?: boolean; readonly time?: ComparingTime } = {},
): ReplacedText {
  const places = placesOf(text, replacement.oldText, replacement.replaceAll);
  if (places.length === 0) return replaceNearly(text, replacement, name, { exactly, time });
  if (places.length > 1 && !replacement.replaceAll) {
    throw new ToolFailure(
      "ambiguous_match",
      `old_string stands at ${places.length} places in ${name} (${lineList(text, places)}); nothing was changed.`,
      { hint: "Add lines around it until it is unique, or set replace_all to change every place.", retryable: true },
    );
  }
  const length = replacement.oldText.length;
  return spliceText(
    text,
    places.map((start) => ({ start, end: start + length, text: replacement.newText })),
  );
}

function replaceNearly(
  text: string,
  replacement: Replacement,
  name: string,
  { exactly, time }: { readonly exactly: boolean; readonly time: ComparingTime },
): ReplacedText {
  if (replacement.oldText.includes(redactionMarker)) {
    throw new ToolFailure("masked_text", `old_string holds a mask in place of a secret, which ${name} does not.`, {
      failureClass: "permission_denied",
      hint: "Choose an old_string from the lines around the masked value.",
    });
  }
  const fit = replacement.replaceAll || exactly ? undefined : nearlyAt(text, replacement, time);
  if (fit === undefined) {
    throw new ToolFailure("no_match", `old_string is not in ${name}; nothing was changed.`, {
      hint: exactly
        ? "Copy it exactly: the file is too large to search for similar text."
        : nearestMatch(text, replacement.oldText),
      retryable: true,
    });
  }
  if (fit.starts.length > 1) {
    throw new ToolFailure(
      "ambiguous_match",
      `old_string is not in ${name} as it is written; apart from ${fit.differing} it fits at ${fit.starts.length} places (${lineList(text, fit.starts)}); nothing was changed.`,
      { hint: "Copy the text exactly, with lines around it until it is unique.", retryable: true },
    );
  }
  const { start, oldText, newText, differing } = fit;
  const end = start + oldText.length;
  const firstLine = countLineFeeds(text, 0, start) + 1;
  const lastLine = firstLine + countLineFeeds(text, start, Math.max(start, end - 1));
  const spliced = spliceText(text, [{ start, end, text: newText }]);
  return { ...spliced, fitted: { differing, oldText, newText, firstLine, lastLine } };
}

interface NearlyAt extends WantedEdit {
  readonly differing: FittedReplacement["differing"];
  /** Offsets, ascending. */
  readonly starts: readonly number[];
  readonly start: number;
}

function nearlyAt(text: string, wanted: WantedEdit, time: ComparingTime): NearlyAt | undefined {
  const unnumbered = withoutLineNumbers(wanted);
  const bare = unnumbered !== undefined && hasNumberedLines(text) ? undefined : unnumbered;
  if (bare !== undefined) {
    const starts = placesOf(text, bare.oldText);
    const [start] = starts;
    if (start !== undefined) return { ...bare, differing: "line numbers", starts, start };
  }
  const fit = fitEdit(new FittingText(text), bare ?? wanted, { time });
  if (fit === undefined) return undefined;
  if (fit.type === "several") return { ...wanted, differing: fit.step, starts: fit.starts, start: 0 };
  return { oldText: fit.oldText, newText: fit.newText, differing: fit.step, starts: [fit.start], start: fit.start };
}

/** Offsets of the text. Overlapping ones are replaced one after the other, but count as several if only one is meant. */
function placesOf(text: string, wanted: string, replaceAll = false): readonly number[] {
  const places: number[] = [];
  if (wanted === "") return places;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  const [only, ...others] = places;
  if (replaceAll || only === undefined || others.length > 0) return places;
  const overlapping = text.indexOf(wanted, only + 1);
  return overlapping === -1 ? places : [only, overlapping];
}

function lineList(text: string, places: readonly number[]): string {
  const shown: number[] = [];
  let line = 1;
  let counted = 0;
  for (const place of places.slice(0, 5)) {
    line += countLineFeeds(text, counted, place);
    counted = place;
    shown.push(line);
  }
  return `line${shown.length === 1 ? "" : "s"} ${shown.join(", ")}${places.length > shown.length ? ", …" : ""}`;
}
