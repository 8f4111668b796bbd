import { EditorError } from "../editor/editor-error.ts";

/** A file of which a change and its user changed the same lines: a person merges it. Whole texts. */
export interface Overlap {
  /** Relative to the workspace. */
  readonly path: string;
  /** What both began with. */
  readonly from: string;
  /** What the change would have written on that. */
  readonly wanted: string;
  /** With unsaved changes. */
  readonly present: string;
}

/** Says whether the person wants the rest without the overlapping files, which are then theirs to merge. */
export type AskForRest = (overlaps: readonly Overlap[], rest: number) => Promise<boolean>;

export class OverlapError extends EditorError {
  readonly overlap: Overlap;

  constructor(overlap: Overlap) {
    super(
      "stale_file",
      `${overlap.path} was changed on the same lines since.`,
      "Merge it by hand, or leave this file out.",
    );
    this.overlap = overlap;
  }
}
