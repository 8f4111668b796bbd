import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { ShownHunk } from "./shown-hunk.ts";

/** Where a hunk comes from: a proposal that waits for review, or what the agent wrote in Branch Mode. */
export type HunkOrigin = "proposed" | "written";

/** An action above a hunk. */
export interface HunkLens {
  readonly title: string;
  /** One of `commandIds`. */
  readonly command: "showHunkDiff" | "keepHunk" | "undoHunk" | "editHunk";
}

/** The actions above a hunk in its file. @param index from 0 */
export function hunkLenses(
  { id, state }: Pick<ShownHunk, "id" | "state">,
  origin: HunkOrigin,
  { index, of }: { readonly index: number; readonly of: number },
): readonly HunkLens[] {
  const place = of === 1 ? "" : ` ${index + 1} of ${of}`;
  // A proposed change was never written, so it is refused, not undone.
  const no = origin === "proposed" ? { title: "Refuse", done: "refused" } : { title: "Undo", done: "undone" };
  const word = { open: "", keep: "kept", undo: no.done, edited: "edited" }[state];
  const title = `${origin === "proposed" ? "Proposed change" : "Agent's change"}${place}${word === "" ? "" : `: ${word}`}`;
  const actions: HunkLens[] = [{ title, command: "showHunkDiff" }];
  if (state !== "keep") actions.push({ title: "Keep", command: "keepHunk" });
  if (state !== "undo") actions.push({ title: no.title, command: "undoHunk" });
  if (origin === "proposed" && id !== "") actions.push({ title: "Edit", command: "editHunk" });
  return actions;
}

/** Characters of a line that are shown after another one. */
const most = 160;

/**
 * Text after a line of the document, for a line that would replace or follow it.
 * @param more number of further lines
 */
export function ghostText(line: string, more: number, mark: "→" | "+" | "−"): string {
  const text = spelledOut(line.replace(/\n$/, "").replaceAll("\t", "  "));
  const shown = text.length > most ? `${text.slice(0, most)}…` : text;
  return `${mark} ${shown}${more === 0 ? "" : `  (${mark === "→" ? "+" : mark}${more} ${more === 1 ? "line" : "lines"})`}`;
}
