import { redactionMarker } from "@gennai/governance/redaction";
import { ToolFailure } from "@gennai/governance/tool-error";
import { countLineFeeds } from "./line-edit.ts";
import { nearestMatch } from "./nearest-match.ts";
import { type SplicedText, spliceText } from "./splice-text.ts";

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

/**
 * Replaces an exact text, which must stand at exactly one place unless all are meant.
 * Throws `masked_text` for a mask that the model took for the text, `no_match` with the nearest place as hint, `ambiguous_match` with the count and the lines.
 * @param name of the file, for messages
 */
export function replaceText(text: string, replacement: Replacement, name: string): SplicedText {
  const places = placesOf(text, replacement.oldText);
  if (places.length === 0 && replacement.oldText.includes(redactionMarker)) {
    throw new ToolFailure("masked_text", `old_string holds a mask in place of a secret, which ${name} does not.`, {
      failureClass: "permission_denied",
      hint: "Choose an old_string from the lines around the masked value.",
    });
  }
  if (places.length === 0) {
    throw new ToolFailure("no_match", `old_string is not in ${name}; nothing was changed.`, {
      hint: nearestMatch(text, replacement.oldText),
      retryable: true,
    });
  }
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

function placesOf(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  if (wanted === "") return places;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
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
