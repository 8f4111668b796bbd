import type { Effect, WorkspacePath } from "@gennai/governance/effect";
import type { Analysis } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";

/** The path that the policies judged. Throws `not_analysed` for another tool's analysis. */
export function effectPath(analysis: Analysis, type: "read" | "list" | "search"): WorkspacePath {
  const effect = analysis.effects.find(isOf(type));
  if (effect === undefined) throw new ToolFailure("not_analysed", "The call was not analysed by its own tool.");
  return effect.path;
}

function isOf(type: "read" | "list" | "search") {
  return (effect: Effect): effect is Extract<Effect, { type: "read" | "list" | "search" }> => effect.type === type;
}
