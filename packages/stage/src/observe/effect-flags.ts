import { type BigIntStats, readlinkSync } from "node:fs";
import { type Entry, modeOf, statIfPresent } from "@gennai/machine/entries/look-at-entry";
import type { StageView } from "@gennai/machine/entries/stage-view";
import { systemErrorCode } from "@gennai/machine/system-error";
import { hidesSomething } from "@gennai/protocol/hidden-characters";
import { isWithin } from "@gennai/protocol/is-within";
import type { Covered } from "../cover/covered-tree.ts";
import type { EffectFlag } from "./effect.ts";

/** One effect, as far as it is known. */
export interface FlaggedEntry {
  readonly root: {
    readonly path: string;
    readonly view: StageView;
    readonly covered: Covered;
    readonly marker: bigint;
  };
  readonly path: string;
  readonly after?: Entry;
  readonly isHidden: boolean;
  readonly isClash: boolean;
  /** Attributes of the user's entry. */
  readonly lower: BigIntStats | undefined;
  /** Attributes of the entry that the command left. */
  readonly upper?: BigIntStats;
}

/** The flags of an effect, which must be shown to whoever decides about it. */
export function flagsOf({ root, path, after, isHidden, isClash, lower, upper }: FlaggedEntry): readonly EffectFlag[] {
  const flags: EffectFlag[] = [];
  const isFile = after?.type === "file";
  if (isHidden) flags.push("hidden");
  if (root.covered.copies.has(path)) flags.push("copy");
  if (root.view.isElsewhere(path)) flags.push("elsewhere");
  if (isOdd(path.slice(path.lastIndexOf("/") + 1))) flags.push("odd-name");
  if (isClash && lower === undefined) flags.push("case-clash");
  if (after?.type === "other") flags.push("device");
  // A bit that was set before is the user's choice.
  const gained = upper === undefined ? 0 : modeOf(upper) & ~(lower === undefined ? 0 : modeOf(lower));
  if (isFile && (gained & 0o6000) !== 0) flags.push("set-id");
  if (after?.type === "link" && mayLeadOutside(root, path)) flags.push("leads-outside");
  if ((isFile && (upper?.nlink ?? 0n) > 1n) || (lower?.isFile() === true && lower.nlink > 1n)) flags.push("hard-link");
  if (lower !== undefined && lower.ctimeNs >= root.marker) flags.push("changed-by-others");
  return flags;
}

/** The names that differ from another one only by case, or by Unicode composition. */
export function caseClashes(names: readonly string[]): ReadonlySet<string> {
  const first = new Map<string, string>();
  const clashes = new Set<string>();
  for (const name of names) {
    const folded = name.normalize("NFKC").toLowerCase();
    const other = first.get(folded);
    if (other === undefined) first.set(folded, name);
    else if (other !== name) clashes.add(name).add(other);
  }
  return clashes;
}

/** The limit that Linux has. */
const maxLinks = 40;

/** True also if uncertain: a way through a closed directory, or through names that no file can have, cannot be followed. */
function mayLeadOutside(root: FlaggedEntry["root"], path: string): boolean {
  try {
    return leadsOutside(root, path);
  } catch (error) {
    if (systemErrorCode(error) === undefined) throw error;
    return true;
  }
}

/** Follows a link as the command's system would, without leaving the view of it. Throws system errors. */
function leadsOutside(root: FlaggedEntry["root"], path: string): boolean {
  const waiting = path.split("/");
  const way: string[] = [];
  for (let links = 0; waiting.length > 0; ) {
    const name = waiting.shift() ?? "";
    if (name === "" || name === ".") continue;
    if (name === "..") {
      if (way.pop() === undefined) return true;
      continue;
    }
    const at = root.view.at([...way, name].join("/"));
    if (statIfPresent(at)?.isSymbolicLink() !== true) {
      way.push(name);
      continue;
    }
    links += 1;
    if (links > maxLinks) return true;
    const target = readlinkSync(at);
    if (!target.startsWith("/")) waiting.unshift(...target.split("/"));
    else if (isWithin(target, { directory: root.path })) {
      way.length = 0;
      waiting.unshift(...target.slice(root.path.length).split("/"));
    } else return true;
  }
  return false;
}

/** Whether a reader could take the name for another one: only marks that are drawn, and blanks between them, are plain. */
function isOdd(name: string): boolean {
  // The blank of Braille is drawn as nothing, and counts as a symbol.
  return /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|\u2800|^ | $/u.test(name) || hidesSomething(name);
}
