import type { ConfirmationScope, Question } from "./question.ts";

/** A yes as it was given. */
export interface GivenYes {
  readonly scope: ConfirmationScope;
  /** Id of the pattern that it holds for; absent: the exact action. */
  readonly pattern?: string | undefined;
  /** Ids of parts that are not kept; absent: all are kept. */
  readonly dropped?: readonly string[] | undefined;
}

/** Why a yes is none to this question, because it was not offered; empty: it is one. Client, bridge and gate ask this alone. */
export function misfitOf(
  { offeredScopes, patterns = [], parts = [] }: Pick<Question, "offeredScopes" | "patterns" | "parts">,
  { scope, pattern, dropped }: GivenYes,
): string {
  if (!offeredScopes.includes(scope)) return `The scope "${scope}" was not offered for this action.`;
  if (dropped !== undefined) {
    const known = parts.map(({ id }) => id);
    if (scope !== "once" || pattern !== undefined || !dropped.every((id) => known.includes(id))) {
      return "The answer named parts that were not offered for it.";
    }
    return known.every((id) => dropped.includes(id)) ? "Nothing of it is to be kept." : "";
  }
  if (pattern === undefined) return "";
  const isOffered = (scope === "turn" || scope === "session") && patterns.some(({ id }) => id === pattern);
  return isOffered ? "" : "The answer named a pattern that was not offered for it.";
}
