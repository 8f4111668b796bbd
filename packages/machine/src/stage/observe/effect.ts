import type { Entry, Identity } from "../files/look-at-entry.ts";
import type { FoundLayerPart } from "./layer-part.ts";

/** What a command did to one path. Nothing of it has happened to the user's tree yet. */
export interface StageEffect {
  /** Index of the root. */
  readonly root: number;
  /** Relative to the root, with `/`. A name that is not UTF-8 has U+FFFD in it, and the flag. */
  readonly path: string;
  readonly change: "created" | "changed" | "deleted";
  /** Absent for what was created. */
  readonly before?: Entry & { readonly identity: Identity };
  /** Absent for what was deleted. */
  readonly after?: Entry;
  /** Of a created entry: the path of the user's that it began as, or whose bytes it has. */
  readonly movedFrom?: string;
  /** Where such a one went. */
  readonly movedTo?: string;
  /** What must never be silent. */
  readonly flags: readonly EffectFlag[];
}

export type EffectFlag =
  /** The path is hidden from commands: never kept. */
  | "hidden"
  /** The command saw a copy without logins: its version of that is never kept. */
  | "copy"
  /** Never kept; nobody could name it. */
  | "name-not-utf8"
  /** Control characters, or such that change the direction of text. */
  | "odd-name"
  /** Another name in the directory differs only by case. */
  | "case-clash"
  | "set-id"
  /** A link that leads out of the root. */
  | "leads-outside"
  /** A file with more names than one, before or after. */
  | "hard-link"
  /** Never kept. */
  | "device"
  /** On another file system than the root: never kept. */
  | "elsewhere"
  /** Others changed it since the command began. */
  | "changed-by-others";

/** Effects with these flags can never be kept. */
export const neverKept: readonly EffectFlag[] = ["hidden", "copy", "name-not-utf8", "device", "elsewhere"];

/** What was found after a command. */
export interface Observation {
  /** Sorted by root and path; a directory comes before what is in it. */
  readonly effects: readonly StageEffect[];
  /** Pipes and sockets that the command left; they are gone. Paths as in effects. */
  readonly dropped: readonly { readonly root: number; readonly path: string }[];
  /** The marker's ctime of each root, in nanoseconds: what is not older was changed since the command began. */
  readonly markers: readonly bigint[];
  /** What goes into the layer of the session, of which root. */
  readonly layer?: { readonly root: number; readonly part: FoundLayerPart };
  /** Directories of the user's that the command removed and made anew, with all that is in them; nothing hidden is. */
  readonly replaced: readonly StageEffect[];
  /** Indexes in which git was told to leave hidden paths alone: that is taken back when one is kept. */
  readonly skipped: readonly {
    readonly root: number;
    readonly path: string;
    readonly hidden: ReadonlySet<string>;
  }[];
}
