import type { StageConflict } from "@gennai/machine/change-set/not-committed";
import { isWithin } from "@gennai/protocol/is-within";
import { neverKept, type StageEffect } from "../observe/effect.ts";

/** One name of the user's tree that a commit changes; what is below it goes with it. */
export interface PlannedChange {
  /** The intended effect. */
  readonly effect: StageEffect;
  /** `mode`: the entry at the path stays, and only its mode is set. */
  readonly kind: "place" | "remove" | "mode";
  /** The user's entries below it that are removed with it. */
  readonly gone: readonly StageEffect[];
  /** The command's effects below it that are kept; a directory comes before its content. */
  readonly below: readonly StageEffect[];
  /** The directory can be taken as the command left it. */
  readonly isWhole: boolean;
}

/**
 * The fewest names to change for some of the effects, none below another. A directory is created if something in it is kept; it
 * is removed only with all its content.
 *
 * @param all the command's effects on one root, as observed
 * @param replaced directories that the command created anew
 * @param kept the effects to carry out
 */
export function planCommit(
  all: readonly StageEffect[],
  replaced: readonly StageEffect[],
  kept: ReadonlySet<StageEffect>,
): { readonly changes: readonly PlannedChange[]; readonly refused: readonly Omit<StageConflict, "root">[] } {
  const changes: PlannedChange[] = [];
  const refused: Omit<StageConflict, "root">[] = [];
  const nothing = { gone: [], below: [], isWhole: false };
  for (const effect of all) {
    const never = kept.has(effect) ? effect.flags.find((flag) => neverKept.includes(flag)) : undefined;
    if (never !== undefined) refused.push({ path: effect.path, reason: `it can never be kept (${never})` });
  }
  const anew = new Map(replaced.map((effect) => [effect.path, effect]));
  for (let at = 0; at < all.length; ) {
    const effect = all[at];
    if (effect === undefined) break;
    const whole = replacedAt(all, at, { anew, kept });
    if (whole !== undefined) {
      changes.push({ ...nothing, effect: whole.effect, kind: "place", isWhole: true });
      at = whole.end;
      continue;
    }
    const below = belowOf(all, at);
    const isKept = kept.has(effect);
    const was = effect.before?.type;
    const is = effect.after?.type;
    if (is === "directory" && was !== "directory") {
      const keptBelow = withDirectories(below, kept);
      if (isKept || keptBelow.length > 0) {
        // The overlay leaves a mark on a directory that replaced something else.
        const isWhole = was === undefined && keptBelow.length === below.length && !below.some(isMoved);
        changes.push({ effect, kind: "place", gone: [], below: keptBelow, isWhole });
      }
      at += 1 + below.length;
    } else if (was === "directory" && is !== "directory" && isKept && below.every((one) => kept.has(one))) {
      changes.push({ ...nothing, effect, kind: is === undefined ? "remove" : "place", gone: below });
      at += 1 + below.length;
    } else {
      if (isKept && was === "directory" && is === "directory") changes.push({ ...nothing, effect, kind: "mode" });
      else if (isKept && was === "directory" && is !== undefined) {
        refused.push({ path: effect.path, reason: "the directory in its place must not be removed" });
      } else if (isKept && was !== "directory") changes.push({ ...nothing, effect, kind: kindOf(effect) });
      at += 1;
    }
  }
  return { changes, refused };
}

/** From this number of changes on, a directory that was created again replaces the old one as a whole. */
const many = 10;

/**
 * The outermost directory created again whose first effect is at `at`, if all its effects are kept and there are many of them.
 */
function replacedAt(
  all: readonly StageEffect[],
  at: number,
  { anew, kept }: { readonly anew: ReadonlyMap<string, StageEffect>; readonly kept: ReadonlySet<StageEffect> },
): { readonly effect: StageEffect; readonly end: number } | undefined {
  const path = all[at]?.path ?? "";
  const parts = anew.size === 0 ? [] : path.split("/");
  for (const count of parts.keys()) {
    const effect = anew.get(parts.slice(0, count + 1).join("/"));
    if (effect === undefined) continue;
    const isInIt = (one: StageEffect | undefined): boolean =>
      one !== undefined && isWithin(one.path, { directory: effect.path });
    // Only at the directory's first effect: later, an earlier effect in it may not be kept, and would be carried out as well.
    if (isInIt(all[at - 1])) continue;
    let end = at;
    while (isInIt(all[end])) end += 1;
    const below = all.slice(at, end);
    if (below.length >= many && below.every((one) => kept.has(one) && !isMoved(one))) return { effect, end };
  }
  return undefined;
}

function kindOf({ before, after }: StageEffect): PlannedChange["kind"] {
  if (after === undefined) return "remove";
  if (before?.type !== "file" || after.type !== "file") return "place";
  return before.sha256 !== undefined && before.sha256 === after.sha256 ? "mode" : "place";
}

/** The effects directly after it that lie below it. */
function belowOf(all: readonly StageEffect[], at: number): readonly StageEffect[] {
  const prefix = `${all[at]?.path ?? ""}/`;
  let end = at + 1;
  while (all[end]?.path.startsWith(prefix)) end += 1;
  return all.slice(at + 1, end);
}

function withDirectories(below: readonly StageEffect[], kept: ReadonlySet<StageEffect>): readonly StageEffect[] {
  const ways = new Set<string>();
  for (const effect of below) {
    if (!kept.has(effect)) continue;
    for (let end = effect.path.lastIndexOf("/"); end > 0; end = effect.path.lastIndexOf("/", end - 1)) {
      ways.add(effect.path.slice(0, end));
    }
  }
  return below.filter((effect) => kept.has(effect) || ways.has(effect.path));
}

/** True if the entry came from the user's tree: the overlay left a mark on it. */
function isMoved({ movedFrom }: StageEffect): boolean {
  return movedFrom !== undefined;
}
