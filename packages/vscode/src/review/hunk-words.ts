import { decisionWords } from "@gennai/client/review/decision-words";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { ShownHunk } from "./shown-hunk.ts";

/** Where a hunk comes from: a proposal that waits for review, or what the agent wrote in Branch Mode. */
export type HunkOrigin = "proposed" | "written";

/** An action above a hunk. */
export interface HunkLens {
  readonly title: string;
  /** One of `commandIds`. */
  readonly command: "showHunkDiff" | "keepHunk" | "undoHunk" | "editHunk";
}

/** A written change is undone, a proposed one was never written. */
const writtenWords = { keep: "Keep", refuse: "Undo", kept: "kept", refused: "undone" };

/**
 * The actions above a hunk in its file.
 * @param change the proposed one; undefined: the agent wrote it
 * @param place index from 0
 */
export function hunkLenses(
  { id, state, diff }: Pick<ShownHunk, "id" | "state" | "diff">,
  change: Pick<ProposedChange, "operation" | "movedFrom"> | undefined,
  { index, of }: { readonly index: number; readonly of: number },
): readonly HunkLens[] {
  const words = change === undefined ? writtenWords : decisionWords(change);
  const place = of === 1 ? "" : ` ${index + 1} of ${of}`;
  const word = { open: "", keep: words.kept, undo: words.refused, edited: "edited" }[state];
  const title = `${titleOf(change)}${place}${id === "" ? "" : countsOf(diff)}${word === "" ? "" : `: ${word}`}`;
  const actions: HunkLens[] = [{ title, command: "showHunkDiff" }];
  if (state !== "keep") actions.push({ title: words.keep, command: "keepHunk" });
  if (state !== "undo") actions.push({ title: words.refuse, command: "undoHunk" });
  if (change !== undefined && id !== "") actions.push({ title: "Edit", command: "editHunk" });
  return actions;
}

function titleOf(change: Pick<ProposedChange, "operation" | "movedFrom"> | undefined): string {
  if (change === undefined) return "Agent's change";
  if (change.movedFrom !== undefined) return `Proposed: rename from ${spelledOut(change.movedFrom)}`;
  return change.operation === "delete" ? "Proposed: delete this file" : "Proposed change";
}

/** Lines that are not in the file are in the diff that the title opens. */
function countsOf(diff: readonly string[]): string {
  const [added, removed] = ["+", "-"].map((mark) => diff.filter((line) => line.startsWith(mark)).length);
  return ` (+${added} \u2212${removed})`;
}
