import type { Effect } from "./effect.ts";

/**
 * Tools that do in other words what others do: what people decided about those, in a rule, a hook or an emergency control,
 * holds for them as well, also when it was decided before there were any.
 */
const doesAs: Readonly<Record<string, readonly string[]>> = {
  RunInTerminal: ["Bash", "Terminal"],
  Glob: ["Find"],
  MultiEdit: ["Edit"],
  NotebookEdit: ["Edit"],
  apply_patch: ["Edit", "Write"],
};

/** Names of tools that a decision about a call may use, its own first, as tools are written. */
export function coveringNames(toolName: string, effects: readonly Effect[]): readonly string[] {
  const others = doesAs[toolName];
  if (others === undefined) return [toolName];
  const deletes = effects.some((effect) => "operation" in effect && effect.operation === "delete");
  return [toolName, ...others, ...(deletes ? ["Delete", "Move"] : [])];
}
