import type { Entry, Identity } from "@gennai/machine/entries/look-at-entry";
import type { FoundLayerPart } from "./layer-part.ts";

/** What a command did to one path. The user's tree is still unchanged. */
export interface StageEffect {
  /** Index of the root. */
  readonly root: number;
  /** Relative to the root, with `/`. A name that is not UTF-8 contains U+FFFD, and the effect has the flag `name-not-utf8`. */
  readonly path: string;
  readonly change: "created" | "changed" | "deleted";
  /** Absent for a created entry. */
  readonly before?: Entry & { readonly identity: Identity };
  /** Absent for a deleted entry. */
  readonly after?: Entry;
  /** For a created entry: the user's path from which it was moved, or whose bytes it has. */
  readonly movedFrom?: string;
  /** For a deleted entry that was moved: its new path. */
  readonly movedTo?: string;
  /** What must be shown to whoever decides about the effect. */
  readonly flags: readonly EffectFlag[];
}

export type EffectFlag =
  /** The path is hidden from commands: never kept. */
  | "hidden"
  /** The command saw a copy without logins: its version of the file is never kept. */
  | "copy"
  /** Never kept: policies and people could not name the path. */
  | "name-not-utf8"
  /** The name has control characters, or characters that change the direction of text. */
  | "odd-name"
  /** Another name in the directory differs only by case. */
  | "case-clash"
  | "set-id"
  /** A link that leads out of the root. */
  | "leads-outside"
  /** A file with more than one name, before or after. */
  | "hard-link"
  /** A device: never kept. */
  | "device"
  /** On another file system than the root: never kept. */
  | "elsewhere"
  /** Others changed it since the command began. */
  | "changed-by-others";

/** Effects with these flags can never be kept. */
export const neverKept: readonly EffectFlag[] = ["hidden", "copy", "name-not-utf8", "device", "elsewhere"];

/**
 * - `no-file`: a pipe or socket; it is removed already
 * - `as-shown`: a file without the logins that the command did not see; the user's stays, with them
 */
export interface Dropped {
  readonly root: number;
  readonly path: string;
  readonly why: "no-file" | "as-shown";
}

/** What was found after a command. */
export interface Observation {
  /** Sorted by root and path; a directory comes before what is in it. */
  readonly effects: readonly StageEffect[];
  /** What the command left that is in no effect. Paths as in effects. */
  readonly dropped: readonly Dropped[];
  /** The marker's ctime of each root, in nanoseconds: anything not older was changed since the command began. */
  readonly markers: readonly bigint[];
  /** What goes into the session's layer, and the index of its root. */
  readonly layer?: { readonly root: number; readonly part: FoundLayerPart };
  /** Directories of the user that the command removed and created again, and that contain nothing hidden. */
  readonly replaced: readonly StageEffect[];
}
