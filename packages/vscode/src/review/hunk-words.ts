import { decisionWords } from "@gennai/client/review/decision-words";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { ShownHunk } from "./shown-hunk.ts";

/** Where a hunk comes from: a proposal that waits for review, or what the agent wrote in Branch Mode. */
export type HunkOrigin = "proposed" | "written";

/** An action above a hunk. */
export interface HunkLens {
  readonly title: string;
  /** One of `commandTable`. */
  readonly command: "showHunkDiff" | "keepHunk" | "undoHunk" | "editHunk";
}

/** What the actions are about. */
export type HunkSubject = Pick<ProposedChange, "operation" | "movedFrom"> & { readonly origin: HunkOrigin };

/** A written change is undone, a proposed one was never written. */
const writtenWords = { keep: "Keep", refuse: "Undo", kept: "kept", refused: "undone" };

/**
 * The actions above a hunk in its file.
 * @param place index from 0
 */
export function hunkLenses(
  { id, state, diff }: Pick<ShownHunk, "id" | "state" | "diff">,
  subject: HunkSubject,
  { index, of }: { readonly index: number; readonly of: number },
): readonly HunkLens[] {
  const isProposed = subject.origin === "proposed";
  const words = isProposed ? decisionWords(subject) : { ...writtenWords, ...(id === "" ? wholeWords(subject) : {}) };
  const place = of === 1 ? "" : ` ${index + 1} of ${of}`;
  const word = { open: "", keep: words.kept, undo: words.refused, edited: "edited" }[state];
  const [name, more] = isProposed ? [proposedTitle(subject), ""] : writtenTitle(subject, id);
  const title = `${name}${place}${id === "" ? more : countsOf(diff)}${word === "" ? "" : `: ${word}`}`;
  const actions: HunkLens[] = [{ title, command: "showHunkDiff" }];
  if (state !== "keep") actions.push({ title: words.keep, command: "keepHunk" });
  if (state !== "undo") actions.push({ title: words.refuse, command: "undoHunk" });
  if (isProposed && id !== "") actions.push({ title: "Edit", command: "editHunk" });
  return actions;
}

function proposedTitle({ movedFrom, operation }: HunkSubject): string {
  if (movedFrom !== undefined) return `Proposed: rename from ${spelledOut(movedFrom)}`;
  return operation === "delete" ? "Proposed: delete this file" : "Proposed change";
}

/** The name of a written change, and what is known of it beside its lines. */
function writtenTitle({ movedFrom }: HunkSubject, id: string): readonly [string, string] {
  if (id !== "") return ["Agent's change", ""];
  return movedFrom === undefined ? ["Agent's deletion", ""] : ["Agent's rename", ` (was ${spelledOut(movedFrom)})`];
}

function wholeWords({ movedFrom }: HunkSubject) {
  return movedFrom === undefined
    ? { keep: "Keep deleted", refuse: "Bring back" }
    : { keep: "Keep rename", refuse: "Undo rename" };
}

/** Lines that are not in the file are in the diff that the title opens. */
function countsOf(diff: readonly string[]): string {
  const [added, removed] = ["+", "-"].map((mark) => diff.filter((line) => line.startsWith(mark)).length);
  return ` (+${added} \u2212${removed})`;
}
