/** Of a line: the write that brought it, by its number; `outside` when no recorded write did. */
export type Source = number;

export const outside: Source = -1;

/** Another equal line exists, and only one of the two is from a write: it is unknown which. */
export const unsure: Source = -2;

/** Lines of a file as they once were, and which write brought each. */
export interface Passage {
  readonly path: string;
  readonly lines: readonly string[];
  readonly sources: readonly Source[];
  /** False for a part of a file, around what one write changed. */
  readonly isWhole: boolean;
}

/** How a line was recognised. */
export type Method =
  /** The whole file equals the recorded one, byte for byte or except for line ends. */
  | "same-file"
  /** The line is part of a sequence of equal lines. */
  | "same-lines"
  /** Like `same-lines`, after a formatter. */
  | "formatted"
  /** The same characters with other line breaks. */
  | "rewrapped"
  /** A block whose text has the hash that is recorded. */
  | "block-hash";

export type Match =
  | { readonly type: "write"; readonly write: number; readonly method: Method; readonly confidence: number }
  /** The line is known, and no recorded write added it. */
  | { readonly type: "outside"; readonly method: Method; readonly confidence: number }
  | { readonly type: "unknown"; readonly reason: "not-recorded" | "ambiguous"; readonly candidates: readonly number[] };

export const notRecorded: Match = { type: "unknown", reason: "not-recorded", candidates: [] };
