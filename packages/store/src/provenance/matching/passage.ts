/** Of a line: the write that brought it, by its number; `outside` when no recorded write did. */
export type Source = number;

export const outside: Source = -1;

/** One of two equal lines is of a write, and it cannot be told which. */
export const unsure: Source = -2;

/** Lines of a file as they once were, and which write brought each. */
export interface Passage {
  readonly path: string;
  readonly lines: readonly string[];
  readonly sources: readonly Source[];
  /** False: a part of a file, around what one write changed. */
  readonly isWhole: boolean;
}

/** How a line was recognised. */
export type Method =
  /** The whole file is as it was recorded, byte for byte or but for its line ends. */
  | "same-file"
  /** It is among lines that are recognised together. */
  | "same-lines"
  /** The same, after a formatter. */
  | "formatted"
  /** The same characters, broken into other lines. */
  | "rewrapped"
  /** A block whose text has the hash that is recorded. */
  | "block-hash";

export type Match =
  | { readonly type: "write"; readonly write: number; readonly method: Method; readonly confidence: number }
  /** It is known, and no recorded write brought it. */
  | { readonly type: "outside"; readonly method: Method; readonly confidence: number }
  | { readonly type: "unknown"; readonly reason: "not-recorded" | "ambiguous"; readonly candidates: readonly number[] };

export const notRecorded: Match = { type: "unknown", reason: "not-recorded", candidates: [] };
