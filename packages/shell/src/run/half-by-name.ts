import { shownName } from "@gennai/governance/shown-names";
import type { StageEffect } from "@gennai/stage/observe/effect";
import type { GitEffect } from "@gennai/stage/observe/git-effects";

/**
 * Why nothing may be kept of a command because of names that are not UTF-8, which no rule and no person could name: the rest would
 * be half of what it did. A new file of such a name is left out alone, if nothing is gone that it may hold, and git does not know it.
 *
 * @param effects all of them
 */
export function halfByName(effects: readonly StageEffect[], git: readonly GitEffect[]): string | undefined {
  const unnamed = effects.filter(({ flags }) => flags.includes("name-not-utf8"));
  const [first] = unnamed;
  if (first === undefined) return undefined;
  const isAlone =
    unnamed.every(({ change }) => change === "created") &&
    !effects.some(({ change, movedTo }) => change === "deleted" && movedTo === undefined) &&
    !git.some(({ type }) => type === "ref" || type === "head" || type === "index");
  if (isAlone) return undefined;
  return `the name of ${shownName(first.path)}, a part of it, is not UTF-8. Use another name, or ask the user to rename it`;
}
